// Clicks that come while those of their link are counted again.

import { afterEach, beforeEach, expect, it } from "vitest";
import type { StoredEvent } from "../../../src/events/catalogue.ts";
import { readEvent } from "../../../src/events/read-event.ts";
import { withdrawalStream } from "../../../src/events/streams.ts";
import { Recount } from "../../../src/projections/fold/recount.ts";
import { clicks } from "../../../src/projections/groups.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { foldGroups } from "../../support/projections/fold-groups.ts";
import { clicksWithdrawn } from "../../support/projections/withdrawal-events.ts";
import { append, openStores, type Stores } from "../../support/runtime/stores.ts";

const LINK = "sho.rt/abc";
const [FIRST, SECOND] = ["2026-03-01T10:00:00.000Z", "2026-03-02T10:00:00.000Z"];
const COLLECTIONS = { accountDays: "account-days", linkDays: "link-days", linkClicks: "link-clicks" };

let stores: Stores;
beforeEach(async () => {
  stores = await openStores();
});
afterEach(() => stores.close());

const clicked = (at: string, visitor: string) =>
  append(stores.eventStore, "clicks-a-20260301", [linkClicked({ link: LINK, at, visitor })]);

async function last(): Promise<StoredEvent> {
  const events = await loggedEvents(stores.eventStore, { categories: ["clicks"], limit: 100 });
  return readEvent(events.at(-1) as (typeof events)[number]) as StoredEvent;
}

it("are counted in the totals, and a day that no withdrawal touches stays as it is stored", async () => {
  for (const at of [FIRST, FIRST, SECOND]) await clicked(at, "a".repeat(16));
  await clicked(FIRST, "b".repeat(16));
  await foldGroups(stores, [clicks]);
  const selection = { visitor: "a".repeat(16), to: "2026-03-01T12:00:00.000Z" };
  const { position } = await append(stores.eventStore, withdrawalStream(LINK), [
    clicksWithdrawn({ link: LINK }, 1, selection),
  ]);
  const deps = { ...stores, collections: COLLECTIONS, rules: undefined };
  const recount = new Recount(deps, [{ link: LINK, position }], position);
  const steps = recount.steps();
  while (!(await steps.next()).done);
  for (const at of [FIRST, SECOND]) {
    await clicked(at, "c".repeat(16));
    recount.add(await last());
  }
  const { linkDays, linkClicks, accountDays } = recount.corrections();
  expect(linkClicks).toMatchObject([{ _id: LINK, totalClicks: 4, people: 4 }]);
  expect(linkDays).toMatchObject([{ _id: `${LINK}@2026-03-01`, quarters: [[40, 2, 0, 0]] }]);
  expect(accountDays).toHaveLength(1);
});
