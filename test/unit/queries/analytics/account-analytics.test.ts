// The links with most clicks in a range, of days that had more links than are counted one by one.
import { expect, it, onTestFinished } from "vitest";
import { PEOPLE_KINDS } from "../../../../src/events/vocabulary.ts";
import { accountDays } from "../../../../src/projections/definitions/days/account-day.ts";
import { links } from "../../../../src/projections/definitions/links.ts";
import { accountAnalytics } from "../../../../src/queries/analytics/account-analytics.ts";
import { UTC } from "../../../../src/queries/analytics/time-zone.ts";
import { openSqliteReadStore } from "../../../../src/stores/read-store/sqlite/read-store.ts";
import { ACCOUNT, linkClicked, linkCreated, stored } from "../../../support/event-store/stored-events.ts";
import { plainFold } from "../../../support/projections/plain-fold.ts";
import { putDocuments } from "../../../support/runtime/stores.ts";
import { temporaryFolder } from "../../../support/runtime/temporary-folder.ts";

it("are named, and that links were left out is said, of a day with over a thousand of them", async () => {
  const folder = await temporaryFolder();
  const readStore = await openSqliteReadStore(`${folder.path}/read.db`);
  onTestFinished(async () => {
    await readStore.close();
    await folder.remove();
  });
  const often = Array.from({ length: 3 }, () => linkClicked({ link: "sho.rt/abc" }));
  const once = Array.from({ length: 1_000 }, (_, n) => linkClicked({ link: `sho.rt/once${n}` }));
  await putDocuments(readStore, links.collection.name, [
    ...plainFold(links, [stored(1, linkCreated())]).values(),
  ]);
  const clicks = [...often, ...once].map((click, n) => stored(n + 2, click));
  await putDocuments(readStore, accountDays.collection.name, [...plainFold(accountDays, clicks).values()]);
  const [from, to] = [Date.parse("2026-03-01"), Date.parse("2026-03-02")];
  const range = { from, to, zone: UTC, interval: "day" as const, kinds: PEOPLE_KINDS };
  const { top, totals } = await accountAnalytics({ readStore }, ACCOUNT, range, new Date(to));
  expect(totals.total).toBe(1_003);
  expect(top.links.map(({ slug, clicks }) => [slug, clicks])).toEqual([["abc", 3]]);
  expect(top.leavesOut).toBe(true);
});
