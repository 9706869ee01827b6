// The clicks of one link between two positions of the log: each once, with both ends as they are asked for.

import { beforeEach, expect, it } from "vitest";
import { clicksInLog } from "../../../src/queries/audit/clicks-in-log.ts";
import { START } from "../../../src/stores/event-store/port.ts";
import { loggedEvents } from "../../support/event-store/logged-events.ts";
import { linkClicked, linkCreated } from "../../support/event-store/stored-events.ts";
import { append, type Stores, storesOfTest } from "../../support/runtime/stores.ts";

const LINK = "sho.rt/abc";
const COUNT = 1_300;

let stores: Stores;
let positions: string[];
beforeEach(async () => {
  stores = await storesOfTest();
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

const at = (n: number) => positions[n] as string;
const even = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, i) => from + i).filter((n) => n % 2 === 0);

async function cities(range: { after: string; upTo: string }): Promise<number[]> {
  const found: number[] = [];
  for await (const clicks of clicksInLog(stores, { link: LINK }, range))
    found.push(...clicks.map((click) => ("unreadable" in click ? Number.NaN : Number(click.data.city))));
  return found;
}

it("begins after a position, and ends with the last", async () => {
  expect(await cities({ after: at(10), upTo: at(20) })).toEqual(even(11, 20));
  expect(await cities({ after: at(10), upTo: at(10) })).toEqual([]);
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
  const range = { after: START, upTo: at(COUNT - 1) };
  for await (const _ of clicksInLog({ eventStore: watched }, { link: LINK }, range));
  expect(asked[0]).toBe(START);
});

it("tells what the store can't read, as it may be of the link", async () => {
  const { eventStore } = stores;
  const readAll: typeof eventStore.readAll = async (options) => {
    const { events, next } = await eventStore.readAll(options);
    const damaged = { data: null, unreadable: "it is damaged" };
    return {
      events: events.map((event) => (event.position <= at(9) ? { ...event, ...damaged } : event)),
      next,
    };
  };
  const range = { after: START, upTo: at(20) };
  const clicks = (
    await Array.fromAsync(clicksInLog({ eventStore: { readAll } }, { link: LINK }, range))
  ).flat();
  const told = clicks.map((click) =>
    "unreadable" in click ? click.unreadable.position : Number(click.data.city),
  );
  expect(told).toEqual([...positions.slice(0, 10), ...even(10, 20)]);
});
