// Commits that fail half-way on a store without transactions, of which an earlier one had come further in the log.
import { expect, it } from "vitest";
import { clicks as clickGroup } from "../../../src/projections/groups.ts";
import { type EventStore, type Position, START } from "../../../src/stores/event-store/port.ts";
import type { ReadStore } from "../../../src/stores/read-store/port.ts";
import { ACCOUNT, linkClicked } from "../../support/event-store/stored-events.ts";
import { type Break, failingReadStore } from "../../support/projections/failing-read-store.ts";
import { foldGroups } from "../../support/projections/fold-groups.ts";
import { storeWith } from "../../support/runtime/store-with.ts";
import { append, storesOfTest } from "../../support/runtime/stores.ts";

const DAY = "2026-03-01";

it("goes on where a commit had begun a day's next chunk, and an earlier one that failed had come further", async () => {
  const { eventStore, readStore } = await storesOfTest();
  const click = linkClicked({ accountId: ACCOUNT, at: `${DAY}T01:00:00.000Z` });
  const fold = (events: number, time: string, ...breaks: Break[]) => {
    const failing: ReadStore = failingReadStore(readStore, breaks);
    const folding = { eventStore: logOf(eventStore, events), readStore: failing };
    return foldGroups({ ...folding, clock: () => new Date(time) }, [clickGroup]);
  };
  const during = `${DAY}T12:00:00.000Z`;
  for (let batch = 0; batch < 4; batch++)
    await append(eventStore, `clicks-w0-${DAY}`, Array(100).fill(click));
  await fold(250, during);
  // After the day has ended its commits list it again, first of all.
  await expect(fold(390, "2026-03-02T12:00:00.000Z", { afterWrites: 1, applied: false })).rejects.toThrow();
  await fold(310, during);
  await expect(fold(340, during, { afterWrites: 1, applied: true })).rejects.toThrow();
  await fold(390, during);
  const [totals] = await readStore.find<never>("link-totals", { limit: 1 });
  expect(totals).toMatchObject({ totalClicks: 390 });
});

/** A log of the first events. */
function logOf(sound: EventStore, events: number): EventStore {
  let last: Promise<Position> | undefined;
  return storeWith(sound, {
    async readAll(options) {
      last ??= sound
        .readAll({ after: START, categories: ["clicks"], limit: events })
        .then((page) => page.events.at(-1)?.position ?? START);
      const until = await last;
      const page = await sound.readAll(options);
      const isBeyond = page.next > until;
      return {
        events: page.events.filter(({ position }) => position <= until),
        next: isBeyond ? until : page.next,
      };
    },
  });
}
