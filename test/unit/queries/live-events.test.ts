// Live events: every watcher gets each event of its key once and in order, from whatever position it starts.
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { linkOf } from "../../../src/queries/audit/clicks-in-log.ts";
import { type LiveEventBatch, liveEvents } from "../../../src/queries/feed/live-events.ts";
import { type EventStore, type RecordedEvent, START } from "../../../src/stores/event-store/port.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { storeWith } from "../../support/runtime/store-with.ts";
import { append, appendCopies, openStores, type Stores } from "../../support/runtime/stores.ts";

const LINK = "sho.rt/abc";
const sleep = async (ms: number) => void (await delay(ms));
const log = { warn: () => undefined };

let stores: Stores;
let signal: AbortController;
beforeEach(async () => {
  stores = await openStores();
  signal = new AbortController();
});
afterEach(async () => {
  signal.abort();
  await stores.close();
});

/** The city identifies the n-th click. */
async function click(n: number, link = LINK): Promise<string> {
  const event = linkClicked({ link, city: String(n) });
  return (await append(stores.eventStore, `clicks-w${n % 3}-20260301`, [event])).position;
}

/** Keyed by the link of a click. */
const live = (eventStore: EventStore = stores.eventStore, pause = sleep) =>
  liveEvents({ eventStore, sleep: pause, log }, linkOf);
const cityOf = ({ data }: RecordedEvent) => (data as { city: string }).city;

/** Pulls batches until `count` clicks were received. */
async function take(batches: AsyncGenerator<LiveEventBatch, unknown>, count: number) {
  const seen: string[] = [];
  let position = START;
  while (seen.length < count) {
    const next = await batches.next();
    if (next.done) break;
    seen.push(...next.value.events.map(cityOf));
    position = next.value.position;
  }
  return { seen, position };
}

describe("live events", () => {
  it("continue right after the requested position, through earlier and new clicks", async () => {
    const shown = await click(0);
    for (const n of [1, 2]) await click(n);
    await click(9, "sho.rt/other");
    const batches = live().follow(LINK, shown, signal.signal);
    expect((await take(batches, 2)).seen).toEqual(["1", "2"]);
    const coming = take(batches, 2);
    for (const n of [3, 4]) await click(n);
    expect((await coming).seen).toEqual(["3", "4"]);
  });

  it("are neither lost nor repeated by who leaves and comes back while clicks pour in", async () => {
    const clicks = live();
    const other = clicks.follow("sho.rt/other", START, signal.signal);
    await other.next();
    const pouring = (async () => {
      for (let n = 0; n < 200; n += 1) await click(n, n % 4 === 3 ? "sho.rt/other" : LINK);
    })();
    const seen: string[] = [];
    let position = START;
    while (seen.length < 150) {
      const visit = new AbortController();
      const batches = clicks.follow(LINK, position, visit.signal);
      const part = await take(batches, Math.min(20, 150 - seen.length));
      seen.push(...part.seen);
      position = part.position;
      visit.abort();
      await batches.return(undefined);
    }
    await pouring;
    const expected = Array.from({ length: 200 }, (_, n) => n).filter((n) => n % 4 !== 3);
    expect(seen).toEqual(expected.map(String));
  });

  it("end with tooFar when too much was written since the requested position", async () => {
    await appendCopies(stores.eventStore, "clicks-w-20260301", linkClicked({ link: "sho.rt/other" }), 51_000);
    const batches = live().follow(LINK, START, signal.signal);
    let last = await batches.next();
    while (!last.done) last = await batches.next();
    expect(last.value).toBe("tooFar");
  });

  it("release a watcher that leaves while the store is unavailable", async () => {
    const unavailable = storeWith<EventStore>(stores.eventStore, {
      head: async () => {
        throw new Error("unavailable");
      },
    });
    const clicks = live(unavailable, async () => void (await delay(1)));
    const next = clicks.follow(LINK, START, signal.signal).next();
    signal.abort();
    expect(await next).toEqual({ done: true, value: undefined });
  });

  it("cost no subscription while nobody watches, and survive one that breaks", async () => {
    let subscriptions = 0;
    let broken = false;
    const breaking = storeWith<EventStore>(stores.eventStore, {
      subscribe(options) {
        if (!broken) {
          broken = true;
          throw new Error("dropped");
        }
        subscriptions += 1;
        options.signal.addEventListener("abort", () => {
          subscriptions -= 1;
        });
        return stores.eventStore.subscribe(options);
      },
    });
    const clicks = live(breaking, async () => void (await delay(1)));
    expect(subscriptions).toBe(0);
    const batches = clicks.follow(LINK, START, signal.signal);
    await batches.next();
    await click(1);
    expect((await take(batches, 1)).seen).toEqual(["1"]);
    expect([broken, subscriptions]).toEqual([true, 1]);
    signal.abort();
    await batches.next();
    expect(subscriptions).toBe(0);
  });
});
