// The click writer against a store that fails before, during and after an append.
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { EventStore } from "../../src/event-store/port.ts";
import { openSqliteEventStore } from "../../src/event-store/sqlite/event-store.ts";
import { CATEGORY, clickStream } from "../../src/events/streams.ts";
import { clickReader } from "../../src/redirect/clicks/click-event.ts";
import { ClickWriter } from "../../src/redirect/clicks/click-writer.ts";
import { geoOf } from "../../src/redirect/clicks/enrich/geo.ts";
import {
  addHit,
  emptyBatch,
  type HitBatch,
  type LinkTarget,
  packTarget,
} from "../../src/redirect/clicks/hit.ts";
import type { RecorderReport } from "../../src/redirect/clicks/recorder-report.ts";
import { visitorCodes } from "../../src/redirect/clicks/visitors/visitor.ts";
import { ClickOutbox } from "../../src/redirect/spool/click-outbox.ts";
import { clickedLink } from "../support/redirect/clicked-link.ts";
import { storeWith } from "../support/runtime/store-with.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";

const WRITER = "00112233445566ff";
const NOON = Date.UTC(2026, 4, 1, 12);

function batchesOf(
  count: number,
  hitsEach: number,
  at = (_hit: number) => NOON,
  linkOf = (_hit: number): LinkTarget => clickedLink,
): HitBatch[] {
  return Array.from({ length: count }, (_, index) => {
    const batch = emptyBatch(index + 1, index * hitsEach);
    for (let i = 0; i < hitsEach; i++) {
      const number = index * hitsEach + i;
      const facts = {
        method: "GET",
        address: "203.0.113.9",
        userAgent: "",
        referrer: "",
        language: "",
        prefetch: "",
      } as const;
      const link = packTarget(linkOf(number));
      addHit(batch, { link, at: at(number), query: `utm_term=${number}`, ...facts });
    }
    return batch;
  });
}

describe("the click writer", () => {
  let folder: TemporaryFolder;
  let store: EventStore;

  beforeEach(async () => {
    folder = await temporaryFolder();
    store = await openSqliteEventStore(join(folder.path, "events.db"));
  });

  afterEach(async () => {
    await store.close();
    await folder.remove();
  });

  /** Resolves with all reports once the last of the batches is committed. */
  function write(batches: HitBatch[], eventStore: EventStore, revisions = new Map<string, number>()) {
    return new Promise<RecorderReport[]>((resolve) => {
      const reports: RecorderReport[] = [];
      const report = (one: RecorderReport) => {
        if (one.type !== "spool") reports.push(one);
        if (one.type === "committed" && one.upTo === batches.at(-1)?.batch) resolve(reports);
      };
      const writer = new ClickWriter({
        outbox: new ClickOutbox({
          ...{ eventStore, spools: undefined, report, random: () => 0.5 },
          sleep: async () => undefined,
        }),
        clickOf: clickReader(geoOf(undefined, undefined)),
        visitors: async () => visitorCodes(new Uint8Array(32)),
        ...{ writer: WRITER, revisions, report },
      });
      for (const batch of batches) writer.push(batch);
    });
  }

  async function storedTerms(): Promise<number[]> {
    const events = await store.readAll({ categories: [CATEGORY.clicks], limit: 10_000 });
    return events.map((event) => Number((event.data as { utm: { term: string } }).utm.term));
  }

  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

  it("keeps order and loses nothing when the store refuses, and when it fails after it has committed", async () => {
    let calls = 0;
    const flaky = storeWith<EventStore>(store, {
      append: async (...request) => {
        calls++;
        if (calls % 3 === 1) throw new Error("refused");
        const result = await store.append(...request);
        if (calls % 3 === 2) throw new Error("answer lost");
        return result;
      },
    });
    const reports = await write(batchesOf(12, 200), flaky);
    expect(await storedTerms()).toEqual(numbers(2400));
    expect(reports.some((report) => report.type === "problem")).toBe(true);
  });

  it("reports each outage and its end without a spool too", async () => {
    const outages = ["refused", "none", "none", "refused", "refused"];
    const failing = storeWith<EventStore>(store, {
      append: async (...request) => {
        if (outages.shift() === "refused") throw new Error("refused");
        return await store.append(...request);
      },
    });
    // More than one append may hold, so that there are appends between the outages.
    const reports = await write(batchesOf(4, 2000), failing);
    const outage = ["Clicks wait in memory: refused", "The event store takes clicks again"];
    const problems = reports.flatMap((report) => (report.type === "problem" ? report.message : []));
    expect(problems).toEqual([...outage, ...outage]);
  });

  it("appends only what an earlier thread had not appended yet, however that thread had joined batches", async () => {
    const batches = batchesOf(6, 50);
    await write(batches.slice(0, 4), store);
    await write(batches, store);
    expect(await storedTerms()).toEqual(numbers(300));
    await write(batches.slice(2), store, new Map([[clickStream(WRITER, new Date(NOON)), 99]]));
    expect(await storedTerms()).toEqual(numbers(300));
  });

  it("counts a hit that fits no event as lost, and names its link but not where that leads", async () => {
    const unfit: LinkTarget = { ...clickedLink, accountId: "of no account" };
    const linkOf = (hit: number) => (hit === 1 ? unfit : clickedLink);
    const reports = await write(batchesOf(1, 3, undefined, linkOf), store);
    expect(await storedTerms()).toEqual([0, 2]);
    const [lost] = reports;
    expect(lost).toMatchObject({ type: "problem", lost: 1, err: { code: "event_invalid" } });
    expect(JSON.stringify(lost)).toContain(`Hit on ${unfit.key}: LinkClicked: `);
    expect(JSON.stringify(lost)).not.toContain(unfit.longUrl);
  });

  it("splits a batch that crosses midnight by day, the same way when it is sent again", async () => {
    const midnight = Date.UTC(2026, 4, 2);
    const batches = batchesOf(2, 10, (number) => midnight - 5 + number);
    await write(batches, store);
    await write(batches, store);
    expect(await store.read(clickStream(WRITER, new Date(midnight - 1)))).toHaveLength(5);
    expect(await store.read(clickStream(WRITER, new Date(midnight)))).toHaveLength(15);
  });
});
