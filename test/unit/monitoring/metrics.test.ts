// A scrape while a store does not answer.
import { expect, it } from "vitest";
import type { GroupStatus } from "../../../src/projections/builds/status.ts";
import type { RecorderStatus } from "../../../src/redirect/clicks/recorder.ts";
import { createMetrics } from "../../../src/service/monitoring/metrics.ts";
import { observer } from "../../../src/service/monitoring/observe.ts";
import { quietParts } from "../../support/monitoring/quiet-parts.ts";

const links: GroupStatus = {
  name: "links",
  version: 1,
  build: 1,
  position: null,
  head: null,
  behind: true,
  lagMs: 70,
  waitsFor: null,
  setAside: { count: 2, events: [] },
  processed: 3,
  answers: "this",
  isOfOtherLog: false,
};

const recorder: RecorderStatus = {
  recorded: 12,
  committed: 12,
  waiting: 3,
  unstored: 2,
  journal: { clicks: 7, bytes: 4000, isFull: true },
  lost: 0,
  writerRestarts: 0,
  stall: undefined,
  notRecorded: { hits: 5, untold: 0 },
  saltProblem: undefined,
};

it("answers within seconds with the known metrics, and makes one call at a time, while a store doesn't answer", async () => {
  let calls = 0;
  const hangs = () => {
    calls++;
    return new Promise<never>(() => undefined);
  };
  const observed = observer(
    quietParts(
      {
        recorder: async () => recorder,
        projections: async () => [links],
        eventsBehind: hangs,
        ofProcess: { log: { write: "can't be written: the disk is full" } },
      },
      { count: 1, events: [] },
    ),
  );
  const metrics = createMetrics({ observer: observed });
  const started = performance.now();
  const [text] = await Promise.all([metrics.text(), metrics.text()]);
  expect(performance.now() - started).toBeLessThan(10_000);
  expect(calls).toBe(1);
  for (const line of [
    'linkledger_projection_lag_seconds{projection="links"} 0.07',
    'linkledger_projection_set_aside_events{projection="links"} 2',
    'linkledger_projection_set_aside_events{projection="webhooks-router"} 1',
    "linkledger_journal_clicks 7",
    "linkledger_journal_bytes 4000",
    "linkledger_journal_full 1",
    "linkledger_clicks_waiting 3",
    "linkledger_clicks_unstored 2",
    "linkledger_event_store_write_failing 1",
    "linkledger_event_store_read_failing 0",
  ])
    expect(text.split("\n")).toContain(line);
  expect(text).toMatch(/^linkledger_disk_free_bytes \d+$/m);
});

it("shows what was folded last while the projections can't be asked", async () => {
  let isAway = false;
  const projections = async () => {
    if (isAway) throw new Error("away");
    return [links];
  };
  const metrics = createMetrics({ observer: observer(quietParts({ projections })) });
  const folded = 'linkledger_projection_folded_events_total{projection="links"} 3';
  expect((await metrics.text()).split("\n")).toContain(folded);
  isAway = true;
  expect((await metrics.text()).split("\n")).toContain(folded);
});
