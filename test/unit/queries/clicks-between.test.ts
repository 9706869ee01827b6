// The clicks of one link between two positions: each once, with both ends as they are asked for.

import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { clicksBetween, type LogRange } from "../../../src/projections/fold/clicks-between.ts";
import { START } from "../../../src/stores/event-store/port.ts";
import { clickRows } from "../../../src/transfer/export/click-rows.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import { linkClicked, linkCreated } from "../../support/event-store/stored-events.ts";
import { clicksWithdrawn } from "../../support/projections/withdrawal-events.ts";
import { append, openStores, type Stores } from "../../support/runtime/stores.ts";

const LINK = "sho.rt/abc";
const COUNT = 1_300;

let stores: Stores;
let positions: string[];
beforeEach(async () => {
  stores = await openStores();
  await append(stores.eventStore, "link-sho.rt/abc", [linkCreated()]);
  for (let n = 0; n < COUNT; n += 100) {
    const clicks = Array.from({ length: 100 }, (_, i) =>
      linkClicked({ link: (n + i) % 2 === 0 ? LINK : "sho.rt/other", city: String(n + i) }),
    );
    await append(stores.eventStore, `clicks-w${n % 300}-20260301`, clicks);
  }
  const all = await loggedEvents(stores.eventStore, { categories: ["clicks"], limit: COUNT });
  positions = all.map(({ position }) => position);
});
afterEach(() => stores.close());

const at = (n: number) => positions[n] as string;
const even = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((n) => n % 2 === 0);

async function cities(range: LogRange): Promise<number[]> {
  const found: number[] = [];
  for await (const events of clicksBetween(stores, LINK, range))
    found.push(...events.map(({ data }) => Number(data.city)));
  return found;
}

it("begins after a position, or with one, and ends with the last", async () => {
  expect(await cities({ after: at(10), upTo: at(20) })).toEqual(even(11, 20));
  expect(await cities({ from: at(10), upTo: at(20) })).toEqual(even(10, 20));
  expect(await cities({ from: at(10), upTo: at(10) })).toEqual([10]);
  expect(await cities({ after: at(10), upTo: at(10) })).toEqual([]);
  expect(await cities({ from: at(0), upTo: at(COUNT - 1) })).toEqual(even(0, COUNT - 1));
  expect(await cities({ after: START, upTo: at(COUNT - 1) })).toEqual(even(0, COUNT - 1));
});

it("asks no store for an empty position, which is none of EventStoreDB's", async () => {
  const { eventStore } = stores;
  const asked: (string | undefined)[] = [];
  const watched = {
    readAll: (options: Parameters<typeof eventStore.readAll>[0]) => {
      asked.push(options.after);
      return eventStore.readAll(options);
    },
  };
  for await (const _ of clicksBetween({ eventStore: watched }, LINK, { after: START, upTo: at(COUNT - 1) }));
  expect(asked[0]).toBe(START);
});

it("leaves out what the store can't read", async () => {
  const { eventStore } = stores;
  const readAll: typeof eventStore.readAll = async (options) => {
    const { events, next } = await eventStore.readAll(options);
    const damaged = { data: null, unreadable: "it is damaged" };
    return {
      events: events.map((event) => (event.position <= at(9) ? { ...event, ...damaged } : event)),
      next,
    };
  };
  const found: number[] = [];
  for await (const events of clicksBetween({ eventStore: { readAll } }, LINK, { after: START, upTo: at(20) }))
    found.push(...events.map(({ data }) => Number(data.city)));
  expect(found).toEqual(even(10, 20));
});

it("is what an export of all clicks reads, up to the head", async () => {
  const found: string[] = [];
  for await (const clicks of clickRows(stores, { link: LINK }, { after: START }))
    found.push(...clicks.map((row) => ("city" in row ? row.city : "")));
  expect(found.map(Number)).toEqual(even(0, COUNT - 1));
});

it("is exported without withdrawn clicks, and without reading the withdrawals of all links", async () => {
  const { eventStore } = stores;
  const selection = { upTo: at(COUNT - 3) };
  await append(eventStore, `withdrawals-${LINK}`, [clicksWithdrawn({ link: LINK }, 1, selection)]);
  const readAll = vi.spyOn(eventStore, "readAll");
  const found: string[] = [];
  for await (const clicks of clickRows(stores, { link: LINK }, { after: START }))
    found.push(...clicks.map((row) => ("city" in row ? row.city : "")));
  expect(found.map(Number)).toEqual([COUNT - 2]);
  for (const [{ categories }] of readAll.mock.calls) expect(categories).toEqual(["clicks"]);
});
