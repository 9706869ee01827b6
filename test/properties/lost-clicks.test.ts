// For any order of full and free disks, and of stops: what was answered is recorded, or the log says that it was lost.
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import type { ClickWriter } from "../../src/redirect/clicks/append-clicks.ts";
import { packTarget, type RawHit } from "../../src/redirect/clicks/hit.ts";
import { lossNotesIn } from "../../src/redirect/clicks/loss-notes.files.ts";
import type { ClickGap } from "../../src/redirect/clicks/lost-hits.ts";
import { ClickRecorder } from "../../src/redirect/clicks/recorder.ts";
import { clickedLink } from "../support/redirect/clicked-link.ts";
import { effort } from "../support/runtime/effort.ts";
import { printCounts } from "../support/runtime/print-counts.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";

const MOST_KEPT = 20;
/** Longer than a redirect waits. */
const STALL_MS = 1_000;
const STOP_MS = 100;

const none = { address: "", country: "", userAgent: "", referrer: "", language: "", prefetch: "" };
const link = packTarget(clickedLink);
const hit = (at: number): RawHit => ({ link, at, method: "GET", query: "", ...none });

const step = fc.oneof(
  fc.record({ what: fc.constant("hits" as const), count: fc.integer({ min: 1, max: 15 }) }),
  fc.record({
    what: fc.constantFrom("fill" as const, "free" as const, "stop" as const),
    count: fc.constant(0),
  }),
);

const counts = { answered: 0, recorded: 0, "said lost": 0, stops: 0, "stops on a full disk": 0 };

it("accounts for every answered click", { timeout: 300_000 }, async () => {
  const check = async (steps: { what: "hits" | "fill" | "free" | "stop"; count: number }[]) => {
    const folder = await temporaryFolder();
    const file = join(folder.path, "lost-clicks");
    const log = { isFull: false, recorded: 0, gaps: new Map<string, ClickGap>() };
    const full = { name: "Error", type: "Error", message: "database or disk is full" } as never;
    let [now, answered, at] = [0, 0, 1_780_000_000_000];

    function start() {
      let isDead = false;
      const dead = () => new Promise<never>(() => undefined);
      const writer: ClickWriter = {
        async write({ count, takenBack }) {
          if (isDead) return await dead();
          if (log.isFull) return { stored: false, isUnknown: false, err: full };
          log.recorded += count - takenBack;
          return { stored: true, reached: [], seconds: 0, lost: 0, journal: undefined };
        },
        async appendGap(gap) {
          if (isDead) return await dead();
          if (log.isFull) throw new Error("database or disk is full");
          log.gaps.set(gap.id, { ...gap });
        },
        status: async () => ({ journal: undefined, saltProblem: undefined }),
        close: async () => undefined,
      };
      const recorder = new ClickRecorder({
        ...{ durability: "batched", writer, random: () => 0.5, mostKept: MOST_KEPT },
        ...{ newId: () => crypto.randomUUID(), now: () => now, log: { warn: () => undefined } },
        notes: lossNotesIn(file, 7),
      });
      const die = () => {
        isDead = true;
      };
      return { recorder, die };
    }

    let running = start();
    for (const { what, count } of steps) {
      if (what === "fill" || what === "free") log.isFull = what === "fill";
      if (what === "hits") {
        const waiting: Promise<void>[] = [];
        for (let n = 0; n < count; n++) {
          at += 1;
          waiting.push(running.recorder.record(hit(at)) ?? Promise.resolve());
          now += 20;
        }
        // Those that wait for the disk are answered after a second at most.
        now += STALL_MS;
        await Promise.all(waiting);
        answered += count;
      }
      if (what === "stop") {
        counts.stops++;
        if (log.isFull) counts["stops on a full disk"]++;
        const closing = running.recorder.close(STOP_MS);
        // On a full disk it doesn't end: the process does.
        await (log.isFull ? Promise.race([closing, delay(STOP_MS * 1.5)]) : closing);
        running.die();
        running = start();
      }
      await delay(1);
    }
    log.isFull = false;
    const said = () => [...log.gaps.values()].reduce((sum, { hits }) => sum + hits, 0);
    await until("all to be stored or said", async () => {
      now += STALL_MS;
      const { waiting, notRecorded } = await running.recorder.status();
      return waiting === 0 && notRecorded.untold === 0;
    });
    expect(log.recorded + said()).toBe(answered);
    for (const { from, until } of log.gaps.values()) expect(from).toBeLessThanOrEqual(until);
    expect(lossNotesIn(file, 0).left()).toEqual([]);
    counts.answered += answered;
    counts.recorded += log.recorded;
    counts["said lost"] += said();
    await running.recorder.close();
    await folder.remove();
  };
  await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 2, maxLength: 10 }), check), {
    numRuns: effort(15, 60),
  });
});

afterAll(() => printCounts("clicks on a disk that is full and free", counts));
