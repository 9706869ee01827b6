// For any outages, lost answers and crashes: the log has every accepted click once.

import fc from "fast-check";
import { afterAll, expect, it } from "vitest";
import type { LinkClicked } from "../../src/events/catalogue.ts";
import { CATEGORY } from "../../src/events/streams.ts";
import type { RecordedEvent } from "../../src/stores/event-store/port.ts";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { APPEND_FAULTS, turns } from "../support/event-store/faulty-event-store.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { newSender, type Sender, SimulatedWriter, termOf } from "../support/redirect/simulated-writer.ts";
import { effort } from "../support/runtime/effort.ts";
import { printCounts } from "../support/runtime/print-counts.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";

const MIDNIGHT = Date.UTC(2026, 4, 2);

const fault = fc.oneof(
  { weight: 2, arbitrary: fc.constant("none" as const) },
  fc.constantFrom(...APPEND_FAULTS),
);
const step = fc.record({
  clicks: fc.integer({ min: 1, max: 4 }),
  faults: fc.array(fault, { maxLength: 3 }),
  turnsAfter: fc.nat(20),
  /** The thread dies after it has stored the clicks, before it has answered so. */
  losesAnswer: fc.oneof({ weight: 9, arbitrary: fc.constant(false) }, fc.constant(true)),
});
/** One writer thread. After it the process starts another thread, or crashes with it. */
const thread = fc.record({
  steps: fc.array(step, { maxLength: 8 }),
  end: fc.constantFrom("thread crashes", "process crashes", "process stops"),
});

const counts = { threads: 0, crashes: 0, "clicks accepted": 0, "steps with clicks in the journal": 0 };

it("holds every accepted click exactly once", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(thread, { minLength: 1, maxLength: 5 }), async (threads) => {
      const folder = await temporaryFolder();
      const store = await openSqliteEventStore(`${folder.path}/events.db`);
      const at = (hit: number) => MIDNIGHT - 5 + hit;
      const options = { folder: `${folder.path}/journal`, store, at };
      const senders: Sender[] = [];
      let sender = senders[senders.push(newSender(writerName(0))) - 1] as Sender;
      try {
        for (const { steps, end } of threads) {
          const writer = new SimulatedWriter(sender, options);
          counts.threads++;
          for (const { clicks, faults, turnsAfter, losesAnswer } of steps) {
            writer.eventStore.script.push(...faults);
            writer.losesAnswer = losesAnswer;
            writer.send(clicks);
            await turns(turnsAfter);
            counts["steps with clicks in the journal"] += writer.journal.clicks > 0 ? 1 : 0;
            if (writer.hasCrashed) counts.crashes++;
            if (writer.hasCrashed) break;
          }
          if (end === "process stops" && !writer.hasCrashed && (await writer.settled())) await writer.close();
          writer.crash();
          if (end !== "thread crashes")
            sender = senders[senders.push(newSender(writerName(senders.length))) - 1] as Sender;
        }
        const last = new SimulatedWriter(sender, options);
        expect(await last.emptied()).toBe(true);
        await last.close();

        const events = await loggedEvents(store, { categories: [CATEGORY.clicks], limit: 10_000 });
        const terms = termsOf(events);
        expect(new Set(terms).size).toBe(terms.length);
        for (const one of senders) {
          const inLog = terms.filter((term) => term.startsWith(one.writer));
          const sent = new Set(Array.from({ length: one.sent }, (_, number) => termOf(one, number)));
          expect(inLog.filter((term) => !sent.has(term))).toEqual([]);
          expect(one.accepted.filter((term) => !inLog.includes(term))).toEqual([]);
          counts["clicks accepted"] += one.accepted.length;
        }
      } finally {
        await store.close();
        await folder.remove();
      }
    }),
    { numRuns: effort(12, 40) },
  );
}, 120_000);

afterAll(() => {
  printCounts("click journal, any outages and crashes", counts);
});

function writerName(index: number): string {
  return `${String(index).padStart(10, "0")}aaaaaa`;
}

function termsOf(events: readonly RecordedEvent[]): string[] {
  return events.map((event) => (event.data as LinkClicked["data"]).utm?.term as string);
}
