// The projection runner: latency, events set aside, recovery after failures, and concurrent runners.
import { setTimeout as delay } from "node:timers/promises";
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { accounts } from "../../../src/projections/definitions/accounts.ts";
import { keys } from "../../../src/projections/definitions/keys.ts";
import { type LinkClicksDocument, linkClicks } from "../../../src/projections/definitions/link-clicks.ts";
import { links } from "../../../src/projections/definitions/links.ts";
import { clickProjections, lifecycleProjections } from "../../../src/projections/groups.ts";
import { checkpointName, type Projection } from "../../../src/projections/projection.ts";
import { ProjectionRunner, type RunnerDeps } from "../../../src/projections/runner/runner.ts";
import { whenProjected } from "../../../src/queries/read-your-writes.ts";
import type { EventStore, RecordedEvent } from "../../../src/stores/event-store/port.ts";
import type { ReadStore } from "../../../src/stores/read-store/port.ts";
import { readSetAside, setAsideCollection } from "../../../src/stores/read-store/set-aside.ts";
import { linkClicked, linkCreated } from "../../support/event-store/stored-events.ts";
import { failingReadStore } from "../../support/projections/failing-read-store.ts";
import { stretched } from "../../support/runtime/slowness.ts";
import { storeWith } from "../../support/runtime/store-with.ts";
import { append, openStores, type Stores } from "../../support/runtime/stores.ts";

const CLICKS = "clicks-a-20260301";
const LINK = "sho.rt/abc";

describe("the projection runner", () => {
  let stores: Stores;
  beforeEach(async () => {
    stores = await openStores();
  });
  afterEach(async () => await stores.close());

  it("shows a click well under a second after its append", async () => {
    await live(clickProjections, async () => {
      const { position } = await append(stores.eventStore, CLICKS, [linkClicked()]);
      expect(await projected(clickProjections, position, stretched(900))).toBe(true);
      expect((await totals())?.totalClicks).toBe(1);
    });
  });

  it("continues by itself after the read store was unavailable", async () => {
    const readStore = failingReadStore(stores.readStore, [
      { afterWrites: 1, applied: false },
      { afterWrites: 3, applied: true },
    ]);
    await live(
      clickProjections,
      async () => {
        const { position } = await append(stores.eventStore, CLICKS, [linkClicked(), linkClicked()]);
        expect(await projected(clickProjections, position, 5_000)).toBe(true);
        expect((await totals())?.totalClicks).toBe(2);
      },
      readStore,
    );
  });

  it("says why it can't commit, in one log line, until it can", async () => {
    let isFull = true;
    const readStore = storeWith(stores.readStore, {
      writeBatch: () =>
        storeWith(stores.readStore.writeBatch(), {
          ...(isFull && { write: () => Promise.reject(new Error("database or disk is full")) }),
        }),
    });
    const warned: unknown[] = [];
    const warn = (_: object, message: string) => void warned.push(message);
    const log = { warn, info: warn, error: warn } as RunnerDeps["log"];
    const runner = new ProjectionRunner({
      eventStore: stores.eventStore,
      readStore,
      projections: [linkClicks],
      log,
    });
    const stopping = new AbortController();
    const running = runner.run(stopping.signal);
    await append(stores.eventStore, CLICKS, [linkClicked()]);
    await expect.poll(() => runner.failure).toMatch(/^the disk is full \(SQLITE_FULL\): free some space/);
    await delay(600);
    isFull = false;
    await expect.poll(() => runner.failure, { timeout: stretched(5_000) }).toBeUndefined();
    stopping.abort();
    await running;
    expect(warned).toEqual(["projections interrupted, retrying"]);
  });

  it("sets aside what a projection can't fold, and folds everything else", async () => {
    await append(stores.eventStore, CLICKS, [linkClicked(), linkClicked({ kind: "preview" }), linkClicked()]);
    const brittle = brittleTotals();
    const runner = runnerOf([brittle, ...clickProjections]);
    await runner.catchUp();

    expect((await totals())?.totalClicks).toBe(3);
    expect(await stores.readStore.get("brittle", LINK)).toMatchObject({ totalClicks: 2, preview: 0 });
    const [second] = (await stores.eventStore.read(CLICKS, { from: 1, limit: 1 })) as [RecordedEvent];
    const at = { position: second.position, stream: CLICKS, revision: 1, type: "LinkClicked" };
    expect(await setAsideBy(brittle)).toEqual({
      count: 1,
      events: [{ ...at, error: "previews are too much" }],
    });
    expect(await setAsideBy(linkClicks)).toEqual({ count: 0, events: [] });
    const head = await stores.eventStore.head();
    expect((await checkpointsOf([brittle, linkClicks])).map((one) => one?.position)).toEqual([head, head]);
    expect(runner.processed()).toContainEqual([checkpointName(linkClicks), 3]);
  });

  it("sets it aside once, also in a backlog that it follows, and wherever a store fails", async () => {
    const [before, after] = [5, 7];
    for (let n = 0; n < 3; n++) await append(stores.eventStore, CLICKS, [linkClicked(), linkClicked()]);
    await append(stores.eventStore, CLICKS, [
      linkClicked(),
      linkClicked({ kind: "preview" }),
      linkClicked({ link: "sho.rt/other", kind: "preview" }),
    ]);
    const failing = failingReadStore(
      stores.readStore,
      [before, after].flatMap((afterWrites) => [true, false].map((applied) => ({ afterWrites, applied }))),
    );
    const runner = runnerOf([brittleTotals(), linkClicks], failing, { pageEvents: 2, maxEvents: 2 });
    const stopping = new AbortController();
    const running = runner.run(stopping.signal);
    try {
      await vi.waitFor(async () => {
        const head = await stores.eventStore.head();
        const checkpoints = await checkpointsOf([brittleTotals(), linkClicks]);
        expect(checkpoints.map((one) => one?.position)).toEqual([head, head]);
      }, 20_000);
    } finally {
      stopping.abort();
      await running;
    }
    expect(await setAsideBy(brittleTotals())).toMatchObject({ count: 2, events: [{}, {}] });
    expect((await checkpointsOf([brittleTotals()]))[0]?.setAside).toBe(2);
    expect(await stores.readStore.get("brittle", LINK)).toMatchObject({ totalClicks: 7, preview: 0 });
    expect((await totals())?.totalClicks).toBe(8);
  });

  it("keeps the first thousand notes, and counts all", async () => {
    const previews = Array.from({ length: 1_005 }, () => linkClicked({ kind: "preview" }));
    await append(stores.eventStore, CLICKS, [...previews, linkClicked()]);
    await runnerOf([brittleTotals()]).catchUp();
    const { count, events } = await setAsideBy(brittleTotals());
    expect([count, events.length]).toEqual([1_005, 1_000]);
    expect(await stores.readStore.get("brittle", LINK)).toMatchObject({ totalClicks: 1 });
  });

  it("sets aside only what concerns a projection, or may", async () => {
    const { eventStore } = stores;
    const actor = { type: "operator" as const };
    const metadata = { schemaVersion: 1, correlationId: "c", causationId: "c", actor };
    await eventStore.append("account-x", "none", [
      { id: "e1", type: "AccountOpened", data: { tier: 1 }, metadata },
    ]);
    await eventStore.append("account-x", 0, [{ id: "e2", type: "Invented", data: {}, metadata }]);
    await append(eventStore, `link-${LINK}`, [linkCreated()]);
    await runnerOf(lifecycleProjections).catchUp();
    const types = async (one: Parameters<typeof setAsideBy>[0]) =>
      (await setAsideBy(one)).events.map(({ type }) => type);
    expect(await types(accounts)).toEqual(["AccountOpened", "Invented"]);
    expect(await types(keys)).toEqual(["Invented"]);
    expect(await types(links)).toEqual([]);
    expect(await stores.readStore.get(links.collection.name, LINK)).toBeDefined();
  });

  it("waits for a newer program at an event that only that one can fold, and goes on once it is there", async () => {
    const { eventStore } = stores;
    await append(eventStore, CLICKS, [linkClicked(), linkClicked(), linkClicked()]);
    const newer = storeWith(eventStore, {
      readAll: async (options) =>
        (await eventStore.readAll(options)).map((event) =>
          event.revision === 1 ? { ...event, metadata: { ...event.metadata, schemaVersion: 99 } } : event,
        ),
    });
    const clicksOnly = { ...brittleTotals(), handles: ["LinkCreated"] as const };
    await runnerOf([linkClicks, clicksOnly], stores.readStore, {}, newer).catchUp();
    const [waiting, other] = await checkpointsOf([linkClicks, clicksOnly]);
    expect(waiting?.waitsFor).toMatchObject({ stream: CLICKS, revision: 1, type: "LinkClicked" });
    expect((await totals())?.totalClicks).toBe(1);
    expect(other).toEqual({ position: await eventStore.head() });
    await runnerOf([linkClicks]).catchUp();
    expect((await totals())?.totalClicks).toBe(3);
    expect((await checkpointsOf([linkClicks]))[0]).toEqual({ position: await eventStore.head() });
  });

  it("may run concurrently with another over the same events", async () => {
    const clicks = Array.from({ length: 400 }, () => linkClicked());
    for (let n = 0; n < 400; n += 40) await append(stores.eventStore, CLICKS, clicks.slice(n, n + 40));
    await Promise.all([runnerOf(clickProjections).catchUp(), runnerOf(clickProjections).catchUp()]);
    expect((await totals())?.totalClicks).toBe(400);
  });

  function runnerOf(
    projections: readonly Projection[],
    readStore: ReadStore = stores.readStore,
    limits: Pick<RunnerDeps, "pageEvents" | "maxEvents"> = {},
    eventStore: EventStore = stores.eventStore,
  ) {
    const log = pino({ level: "silent" });
    return new ProjectionRunner({
      ...limits,
      eventStore,
      readStore,
      projections,
      log,
    });
  }

  async function live(projections: readonly Projection[], work: () => Promise<void>, readStore?: ReadStore) {
    const stopping = new AbortController();
    const running = runnerOf(projections, readStore).run(stopping.signal);
    try {
      await work();
    } finally {
      stopping.abort();
      await running;
    }
  }

  async function projected(projections: readonly Projection[], position: string, ms: number) {
    const sleep = async (wait: number) => void (await delay(wait));
    return await whenProjected({ ...stores, sleep }, projections.map(checkpointName), position, () => ms);
  }

  /** As they are stored. */
  async function checkpointsOf(projections: readonly Pick<Projection, "name" | "version">[]) {
    return await Promise.all(projections.map((one) => stores.readStore.checkpoint(checkpointName(one))));
  }

  async function setAsideBy(one: Pick<Projection, "name" | "version" | "collection">) {
    const [checkpoint] = await checkpointsOf([one]);
    return await readSetAside(stores.readStore, setAsideCollection(one.collection.name), checkpoint);
  }

  async function totals() {
    return await stores.readStore.get<LinkClicksDocument>(linkClicks.collection.name, LINK);
  }
});

/** Changes its document in place before it throws. */
function brittleTotals(): Projection<LinkClicksDocument> {
  return {
    ...linkClicks,
    name: "brittle",
    collection: { name: "brittle", indexes: [] },
    evolve(document, event) {
      const changed = linkClicks.evolve(document, event);
      if (event.type === "LinkClicked" && event.data.kind === "preview")
        throw new Error("previews are too much");
      return changed;
    },
  };
}
