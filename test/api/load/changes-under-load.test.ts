// A link that is changed while it is followed 200 times a second: nobody who comes after an answer sees what was before.
import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import type { LinkEvent } from "../../../src/events/catalogue.ts";
import type { OptionChanges } from "../../../src/events/link-options.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { linkStream } from "../../../src/events/streams.ts";
import { openBackend } from "../../../src/service/stores/backend.ts";
import { appendNext } from "../../support/event-store/append-next.ts";
import { type Person, portalPeople } from "../../support/portal/portal-people.ts";
import { effort } from "../../support/runtime/effort.ts";
import { printCounts } from "../../support/runtime/print-counts.ts";
import { stretched } from "../../support/runtime/slowness.ts";
import { until } from "../../support/runtime/until.ts";
import { startTestService, type TestService } from "../../support/service/start-service.ts";

const PER_SECOND = 200;
const MOST_OPEN = 50;
/** As docs/operations.md says of other processes. */
const ELSEWHERE_WITHIN_MS = 1_000;

/** What a visitor got, such as `301 https://example.com/1`; times in milliseconds, of `performance.now`. */
type Visit = { sent: number; answered: number; got: string };
/** From `since`, when it was answered, until `until`, when the next change was sent. */
type State = { since: number; until: number; shows: string };

let service: TestService;
let owner: Person;
let people: ReturnType<typeof portalPeople>;

beforeAll(async () => {
  service = await startTestService({ TRUST_PROXY: "127.0.0.1/32", LOG_LEVEL: "error" });
  people = portalPeople(service);
  owner = await people.developer();
}, 120_000);
afterAll(() => service.stop());

/** Follows the link at a steady rate until it is stopped; a slower machine gets what it can take. */
function followed(slug: string) {
  const visits: Visit[] = [];
  const agent = new Agent({ keepAlive: true, maxSockets: MOST_OPEN });
  const open = new Set<Promise<void>>();
  let running = true;
  const visit = async () => {
    const sent = performance.now();
    const got = await answerOf(agent, `${service.url}/${slug}`);
    visits.push({ sent, answered: performance.now(), got });
  };
  const run = async () => {
    const started = performance.now();
    for (let number = 0; running; await pause(5)) {
      const due = ((performance.now() - started) * PER_SECOND) / 1_000;
      for (; number < due; number++) {
        if (open.size >= MOST_OPEN) continue;
        const visiting = visit().finally(() => open.delete(visiting));
        open.add(visiting);
      }
    }
    await Promise.all(open);
    agent.destroy();
  };
  const ended = run();
  const stop = async () => {
    running = false;
    await ended;
  };
  onTestFinished(stop);
  return { visits, stop };
}

/** Status and Location; the error where there is no answer, which no state of the link shows. */
function answerOf(agent: Agent, url: string): Promise<string> {
  return new Promise((resolve) => {
    const asking = request(url, { agent, headers: { host: "localhost" } }, (response) => {
      const { statusCode, headers } = response;
      response.resume().on("end", () => resolve([statusCode, headers.location].filter(Boolean).join(" ")));
    });
    asking.on("error", ({ message }) => resolve(message)).end();
  });
}

/** Visits that were sent and answered while the link was in a state, and got another. */
function wrong(visits: readonly Visit[], states: readonly State[]) {
  let judged = 0;
  const found: { got: string; shows: string }[] = [];
  for (const { sent, answered, got } of visits) {
    const state = states.find(({ since, until }) => sent >= since && answered < until);
    if (!state) continue;
    judged += 1;
    if (got !== state.shows) found.push({ got, shows: state.shows });
  }
  return { judged, found };
}

describe("a link that is followed 200 times a second", () => {
  it("never leads where it did before an edit, deletion, disabling or restoring was answered", async () => {
    const path = await people.shorten(owner, "https://example.com/0");
    const load = followed(path.split("/").at(-1) ?? "");
    const states: State[] = [];
    const change = async (what: string, shows: string, fields: Record<string, string> = {}) => {
      const before = states.at(-1);
      if (before) before.until = performance.now();
      expect((await owner.post(`${path}/${what}`, fields)).status).toBe(303);
      states.push({ since: performance.now(), until: Number.POSITIVE_INFINITY, shows });
      await pause(60);
    };
    for (let round = 1; round <= effort(4, 40); round++) {
      const url = `https://example.com/${round}`;
      await change("edit", `301 ${url}`, { url });
      await change("delete", "404");
      await change("restore", `301 ${url}`);
      await change("disable", "404");
      await change("enable", `301 ${url}`);
    }
    await load.stop();
    const { judged, found } = wrong(load.visits, states);
    printCounts("changes under load", { changes: states.length, visits: load.visits.length, judged });
    expect(found).toEqual([]);
    expect(judged).toBeGreaterThan(states.length);
  });

  it("leads by rules, times and codes that another process changes within a second, and never back", async () => {
    const path = await people.shorten(owner, "https://example.com/own");
    const slug = path.split("/").at(-1) ?? "";
    const load = followed(slug);
    // With connections of its own, as a command in another process has them.
    const elsewhere = await openBackend(service.config);
    onTestFinished(() => elsewhere.close());
    const of = { host: "localhost", slug, accountId: owner.accountId };
    const late: number[] = [];
    const states: State[] = [];
    const change = async (changes: OptionChanges, shows: string) => {
      const data = { ...of, at: new Date().toISOString(), changes };
      const event: LinkEvent = { type: "LinkOptionsChanged", data };
      const before = states.at(-1);
      if (before) before.until = performance.now();
      await appendNext(elsewhere.eventStore, linkStream("localhost", slug), [newEvent(event, randomUUID())]);
      const changed = performance.now();
      const isShown = () => load.visits.findLast(({ sent }) => sent >= changed)?.got === shows;
      await until(`${shows} to be answered`, async () => isShown(), { everyMs: 2 });
      const since = performance.now();
      late.push(since - changed);
      states.push({ since, until: Number.POSITIVE_INFINITY, shows });
      await pause(60);
    };
    for (let round = 1; round <= effort(4, 40); round++) {
      const url = `https://example.com/${round}`;
      await change({ rules: [{ when: { share: 100 }, url }] }, `302 ${url}`);
      await change({ redirectCode: 307 }, `307 ${url}`);
      await change({ rules: null }, "307 https://example.com/own");
      await change({ expiresAt: "2026-01-01T00:00:00.000Z" }, "404");
      await change({ expiredUrl: `${url}/over` }, `307 ${url}/over`);
      await change({ expiresAt: null, expiredUrl: null, redirectCode: null }, "301 https://example.com/own");
    }
    await load.stop();
    const { judged, found } = wrong(load.visits, states);
    const worst = Math.round(Math.max(...late));
    printCounts("options changed elsewhere", { changes: late.length, judged, "ms at most": worst });
    expect(found).toEqual([]);
    expect(worst).toBeLessThan(stretched(ELSEWHERE_WITHIN_MS));
  });
});
