// One reader of the log: what it costs, and a log that was put back from an older copy under it.
import { setImmediate as turn } from "node:timers/promises";
import { expect, it, onTestFinished } from "vitest";
import { type EventStore, type RecordedEvent, START } from "../../../src/stores/event-store/port.ts";
import { type SharedLog, sharedLog } from "../../../src/stores/event-store/shared-log.ts";
import { appendNext } from "../../support/event-store/append-next.ts";
import { sampleEvents } from "../../support/event-store/sample-events.ts";
import { storeWith } from "../../support/runtime/store-with.ts";
import { openStores } from "../../support/runtime/stores.ts";
import { until } from "../../support/runtime/until.ts";

/** `read`: events that were read by who was behind, and by the one reader. */
async function counted(gatherMs = 0) {
  const { eventStore: sound, close } = await openStores();
  onTestFinished(close);
  const read = { alone: 0, shared: 0, pages: 0 };
  let open = 0;
  const store = storeWith(sound, {
    async readAll(options) {
      const page = await sound.readAll(options);
      read.alone += page.events.length;
      return page;
    },
    async readStored(options) {
      const page = await sound.readStored(options);
      read.alone += page.events.length;
      return page;
    },
    async *subscribeAsRead(options) {
      open += 1;
      try {
        for await (const page of sound.subscribeAsRead(options)) {
          read.shared += page.events.length;
          read.pages += 1;
          yield page;
        }
      } finally {
        open -= 1;
      }
    },
  });
  const shared = sharedLog(store, { pageEvents: 2_000, mostKept: 10_000, gatherMs });
  return { sound, shared, read, openSubscriptions: () => open };
}

function followed(shared: SharedLog, categories: readonly string[], asTexts = false) {
  const stop = new AbortController();
  onTestFinished(() => stop.abort());
  const seen: Pick<RecordedEvent, "id">[] = [];
  const options = { after: START, categories, signal: stop.signal };
  const run = async () => {
    const pages = asTexts ? shared.subscribeStored(options) : shared.subscribe(options);
    for await (const { events } of pages) seen.push(...events);
  };
  const ended = run();
  const leave = async () => {
    stop.abort();
    await ended;
  };
  return { seen, leave };
}

async function append(store: EventStore, count: number, category = "clicks"): Promise<void> {
  await appendNext(store, `${category}-a`, sampleEvents(count));
}

it("reads each event once for all who follow", async () => {
  const { sound, shared, read } = await counted();
  await append(sound, 7);
  const followers = [["clicks"], ["clicks", "link"], ["clicks"]].map((categories) =>
    followed(shared, categories),
  );
  followers.push(followed(shared, ["clicks", "link", "seals"], true));
  await until("all to be at the end", () => followers.every(({ seen }) => seen.length === 7));
  const before = { ...read };
  for (let batch = 0; batch < 20; batch += 1) {
    await append(sound, 50);
    await until("all to see it", () => followers.every(({ seen }) => seen.length === 7 + 50 * (batch + 1)));
  }
  expect({ alone: read.alone - before.alone, shared: read.shared - before.shared }).toEqual({
    alone: 0,
    shared: 1_000,
  });
});

it("reads a page each tenth of a second at most while little is appended at a time", async () => {
  const { sound, shared, read } = await counted(100);
  const { seen } = followed(shared, ["clicks"]);
  const begun = performance.now();
  for (let batch = 0; batch < 100; batch += 1) {
    await append(sound, 1);
    await turn();
  }
  await until("all to be seen", () => seen.length === 100);
  expect(read.pages).toBeLessThanOrEqual((performance.now() - begun) / 100 + 2);
});

it("reads nothing for nobody", async () => {
  const { sound, shared, read, openSubscriptions } = await counted();
  const [links, clicks] = [followed(shared, ["link"]), followed(shared, ["clicks"])];
  await append(sound, 3);
  await until("the clicks to be seen", () => clicks.seen.length === 3);
  await clicks.leave();
  await append(sound, 1, "link");
  await until("the link to be seen", () => links.seen.length === 1);
  const { alone, shared: byReader } = read;
  await append(sound, 5);
  await append(sound, 1, "link");
  await until("the other link to be seen", () => links.seen.length === 2);
  expect(read.alone + read.shared - alone - byReader).toBe(1);
  await links.leave();
  await until("its subscription to be closed", () => openSubscriptions() === 0);
});

it("goes on at the end of a log that was put back from an older copy", async () => {
  const [older, newer] = [await openStores(), await openStores()];
  onTestFinished(async () => {
    for (const { close } of [older, newer]) await close();
  });
  let present = newer.eventStore;
  let reads = 0;
  const shared = sharedLog({
    readAll: (options) => {
      reads += 1;
      return present.readAll(options);
    },
    readStored: (options) => present.readStored(options),
    subscribeAsRead: (options) => present.subscribeAsRead(options),
  });
  await append(newer.eventStore, 9);
  const stale = followed(shared, ["clicks"]);
  await until("all to be seen", () => stale.seen.length === 9);
  await append(older.eventStore, 4);
  present = older.eventStore;
  const anew = followed(shared, ["clicks"]);
  await until("what is there to be seen", () => anew.seen.length === 4);
  for (let n = 0; n < 20; n += 1) await turn();
  const before = reads;
  await append(older.eventStore, 2);
  await until("what is new to be seen", () => anew.seen.length === 6);
  expect(reads - before).toBe(0);
});
