// One account asks eight questions about many clicks at once: another's answers come after bounded work, and what nobody waits for
// any more ends.
import { setImmediate as turn } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import type { Config } from "../../../../src/config/config.ts";
import { CLICK_KINDS } from "../../../../src/events/vocabulary.ts";
import type { ActiveReadStore } from "../../../../src/projections/builds/active-read-store.ts";
import { clickTables } from "../../../../src/projections/definitions/click-tables/chunk.ts";
import { ChunkBuilder } from "../../../../src/projections/definitions/click-tables/chunk-builder.ts";
import type { LinkDocument } from "../../../../src/projections/definitions/links.ts";
import { openDayId, openDays } from "../../../../src/projections/definitions/summaries/open-days.ts";
import { clicks as clickGroup } from "../../../../src/projections/groups.ts";
import { GROUPS } from "../../../../src/queries/analytics/question.ts";
import { createLogger } from "../../../../src/runtime/logging.ts";
import { logReader } from "../../../../src/service/threads/open-log-reader.ts";
import { ACCOUNT, linkClicked, OTHER_ACCOUNT, position } from "../../../support/event-store/stored-events.ts";
import { firstBuild } from "../../../support/projections/fold-groups.ts";
import { storeWith } from "../../../support/runtime/store-with.ts";
import { openStores, putCheckpoint, putDocuments, type Stores } from "../../../support/runtime/stores.ts";

const DAYS = 28;
const ROWS_A_DAY = 4_000;
const OTHERS_LINK = "sho.rt/theirs";

let stores: Stores;

beforeAll(async () => {
  stores = await openStores();
  let last = 0;
  const chunk = (accountId: string, day: number, rows: number, link: string) => {
    const date = `2026-02-${String(day).padStart(2, "0")}`;
    const builder = new ChunkBuilder(accountId, date);
    for (let n = 0; n < rows; n++) {
      const click = { accountId, link, at: `${date}T12:00:00.000Z`, city: `c${n % 300}` };
      builder.addClick(linkClicked(click).data, position(++last));
    }
    return builder.document();
  };
  const days = Array.from({ length: DAYS }, (_, n) => chunk(ACCOUNT, n + 1, ROWS_A_DAY, "sho.rt/abc"));
  await putDocuments(stores.readStore, clickTables.name, [
    ...days,
    chunk(OTHER_ACCOUNT, 28, 10, OTHERS_LINK),
  ]);
  const open = { day: "2026-02-28", accountId: OTHER_ACCOUNT };
  const openDay = { _id: openDayId(open.day, open.accountId), ...open, _position: position(last) };
  await putDocuments(stores.readStore, openDays.name, [openDay]);
  await putCheckpoint(stores.readStore, clickGroup.name, { position: position(last), eventId: "e" });
});
afterAll(() => stores.close());

const common = {
  ...{ now: Date.parse("2026-03-01"), zone: "UTC", kinds: CLICK_KINDS, limit: 10 },
  ...{ from: Date.parse("2026-02-01"), to: Date.parse("2026-03-01") },
};

/** `reads`: how many chunks were read. */
function openThread() {
  let reads = 0;
  const readStore = storeWith(stores.readStore as ActiveReadStore, {
    queried: async () => firstBuild(clickGroup),
    async get(collection, id) {
      if (collection === clickTables.name) reads += 1;
      return await stores.readStore.get(collection, id);
    },
  });
  const opened = { eventStore: stores.eventStore, readStore };
  const config = { baseUrl: "http://localhost" } as Config;
  const reader = logReader({} as never, opened, config, createLogger("silent"));
  const client = new AbortController();
  const greedy = Array.from({ length: 8 }, (_, n) => {
    const filters = { country: [`X${n}`, "FR"] };
    return reader.askAccount({ ...common, accountId: ACCOUNT, filters, groupBy: GROUPS }, client.signal);
  });
  let answered = 0;
  for (const answer of greedy)
    void answer.then(
      () => (answered += 1),
      () => undefined,
    );
  const { signal } = new AbortController();
  const of = { ...common, accountId: OTHER_ACCOUNT, filters: { country: ["FR"] } };
  const others = async () => {
    const numbers = await reader.askAccount({ ...of, groupBy: GROUPS }, signal);
    const link = { _id: OTHERS_LINK, accountId: OTHER_ACCOUNT } as LinkDocument;
    const { totals } = await reader.linkNumbers(link, undefined, common.now, signal);
    const page = await reader.clickPage(of, undefined, 10, signal);
    expect([numbers.totals.people, totals.total, page.clicks]).toEqual([10, 10, []]);
  };
  return { client, greedy, others, reads: () => reads, answered: () => answered };
}

it("answers another account while the first of eight questions are at work, and then all of them", async () => {
  const { greedy, others, answered } = openThread();
  await others();
  expect(answered()).toBeLessThanOrEqual(2);
  for (const { totals } of await Promise.all(greedy)) expect(totals.people).toBe(DAYS * ROWS_A_DAY);
});

it("ends the questions of clients that have gone, at work or in line", async () => {
  const { client, greedy, others, reads } = openThread();
  await others();
  client.abort(new Error("gone"));
  const ended = await Promise.allSettled(greedy);
  expect(ended.map((one) => one.status === "rejected" && String(one.reason))).toEqual(
    Array(8).fill("Error: gone"),
  );
  const before = reads();
  expect(before).toBeLessThan(DAYS);
  await others();
  for (let n = 0; n < 50; n++) await turn();
  expect(reads()).toBe(before);
});
