// What rebuilding promises, whatever the read store: an equal model, swapped at once, and a way back.
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { chance } from "../../src/commands/chance.ts";
import type { EventStore } from "../../src/event-store/port.ts";
import { liveOf, readBuilds } from "../../src/projections/builds.ts";
import { allProjections, clickProjections } from "../../src/projections/groups.ts";
import { type LinkTotalsDocument, linkTotals } from "../../src/projections/link-totals.ts";
import { links } from "../../src/projections/links.ts";
import { liveReadStore } from "../../src/projections/live-read-store.ts";
import type { Progress } from "../../src/projections/progress.ts";
import type { Projection } from "../../src/projections/projection.ts";
import { rebuild } from "../../src/projections/rebuild.ts";
import { rollBack } from "../../src/projections/roll-back.ts";
import { ProjectionRunner } from "../../src/projections/runner.ts";
import type { Document, ReadStore } from "../../src/read-store/port.ts";
import { ACCOUNT, linkClicked, linkCreated } from "../support/stored-events.ts";
import { append } from "../support/stores.ts";

export type BuildsFixture = { eventStore: EventStore; readStore: ReadStore; cleanUp(): Promise<void> };

const CLICKS = "clicks-a-20260301";
const LINK = "sho.rt/l0";
const log = pino({ level: "silent" });

export function projectionBuildsContract(name: string, open: () => Promise<BuildsFixture>): void {
  describe(`builds of projections: ${name}`, () => {
    let stores: BuildsFixture;
    beforeEach(async () => {
      stores = await open();
    });
    afterEach(() => stores.cleanUp());

    const deps = () => ({ ...chance, ...stores, log });
    const quiet = () => undefined;
    const runnerOf = (projections: readonly Projection[]) =>
      new ProjectionRunner({ ...deps(), projections, clock: chance.clock });
    /** Sees every swap at once. */
    const queried = () => {
      let now = 0;
      const clock = () => (now += 1_000);
      return liveReadStore({ store: stores.readStore, projections: allProjections, clock });
    };
    const totals = () => queried().get<LinkTotalsDocument>(linkTotals.collection.name, LINK);
    const liveDocuments = async (projection: Projection) => {
      const { collection } = liveOf(projection, await readBuilds(stores.readStore));
      return await stores.readStore.find<Document>(collection.name, { limit: 100_000 });
    };
    const damage = async () => {
      const [build] = [liveOf(linkTotals as unknown as Projection, await readBuilds(stores.readStore))];
      const document = await stores.readStore.get<LinkTotalsDocument>(build.collection.name, LINK);
      await stores.readStore.clear(build.collection.name);
      await stores.readStore.replace(build.collection.name, [{ ...document, totalClicks: 999 } as Document]);
    };

    it("are equal to what was live, document for document", async () => {
      await happenings(stores.eventStore);
      await runnerOf(allProjections).catchUp();
      const before = await Promise.all(allProjections.map(liveDocuments));
      const rebuilt = await rebuild(deps(), allProjections, quiet);
      expect(rebuilt.map(({ build }) => build)).toEqual(allProjections.map(() => 1));
      const after = await Promise.all(allProjections.map(liveDocuments));
      expect(after).toEqual(before);
      expect(rebuilt.map(({ documents }) => documents)).toEqual(before.map((all) => all.length));
      expect(before.flat().length).toBeGreaterThan(50);
    });

    it("are not seen before they are complete, and then all at once", async () => {
      await happenings(stores.eventStore);
      await runnerOf(allProjections).catchUp();
      await damage();
      expect(await totals()).toMatchObject({ totalClicks: 999 });
      const seen: (number | undefined)[] = [];
      const store = { ...boundStore(stores.readStore) };
      store.replace = async (collection, documents) => {
        if (!collection.startsWith("projection-builds")) seen.push((await totals())?.totalClicks);
        await stores.readStore.replace(collection, documents);
      };
      await rebuild({ ...deps(), readStore: store }, allProjections, quiet);
      expect(seen.length).toBeGreaterThan(5);
      expect(new Set(seen)).toEqual(new Set([999]));
      expect(await totals()).toMatchObject({ totalClicks: 40 });
    });

    it("are gone on with by a projector that runs, which misses nothing", async () => {
      await happenings(stores.eventStore);
      const stopping = new AbortController();
      const running = runnerOf(clickProjections).run(stopping.signal);
      try {
        await expect.poll(async () => (await totals())?.totalClicks, { timeout: 10_000 }).toBe(40);
        const rebuilding = rebuild(deps(), clickProjections, quiet);
        for (let n = 0; n < 10; n++) await append(stores.eventStore, CLICKS, [linkClicked({ link: LINK })]);
        await rebuilding;
        for (let n = 0; n < 10; n++) await append(stores.eventStore, CLICKS, [linkClicked({ link: LINK })]);
        await expect.poll(async () => (await totals())?.totalClicks, { timeout: 10_000 }).toBe(60);
        expect((await runnerOf(clickProjections).status()).map(({ build }) => build)).toEqual(
          clickProjections.map(() => 1),
        );
      } finally {
        stopping.abort();
        await running;
      }
    });

    it("can be rolled back to, and forth, and go on from where they were left", async () => {
      await happenings(stores.eventStore);
      await runnerOf(allProjections).catchUp();
      await damage();
      await rebuild(deps(), [linkTotals as unknown as Projection], quiet);
      await append(stores.eventStore, CLICKS, [linkClicked({ link: LINK })]);
      const rolledBack = await rollBack(deps(), [linkTotals as unknown as Projection]);
      expect(rolledBack).toEqual([{ name: "link-totals", build: 0, before: 1 }]);
      await runnerOf(allProjections).catchUp();
      expect(await totals()).toMatchObject({ totalClicks: 1000 });
      await rollBack(deps(), [linkTotals as unknown as Projection]);
      await runnerOf(allProjections).catchUp();
      expect(await totals()).toMatchObject({ totalClicks: 41 });
    });

    it("can't be rolled back without a build before", async () => {
      await expect(rollBack(deps(), [links as unknown as Projection])).rejects.toMatchObject({
        code: "no_earlier_build",
      });
    });

    it("are two at most: the next rebuild drops the one before the last", async () => {
      await happenings(stores.eventStore);
      await runnerOf(allProjections).catchUp();
      for (let n = 0; n < 3; n++) await rebuild(deps(), [links as unknown as Projection], quiet);
      const counts = ["links", "links_b1", "links_b2", "links_b3"].map((one) =>
        stores.readStore.count(one, {}),
      );
      expect(await Promise.all(counts)).toEqual([0, 0, 20, 20]);
      const names = Object.keys(await stores.readStore.checkpoints());
      expect(names.filter((one) => one.startsWith("links:")).sort()).toEqual(["links:1#2", "links:1#3"]);
    });

    it("stay as they were when an event can't be folded", async () => {
      await happenings(stores.eventStore);
      await runnerOf(allProjections).catchUp();
      const brittle = { ...linkTotals, evolve: fails } as unknown as Projection;
      await expect(rebuild(deps(), [brittle, links as unknown as Projection], quiet)).rejects.toMatchObject({
        code: "rebuild_faulted",
        message: expect.stringContaining("link-totals can't fold LinkClicked"),
      });
      expect(await totals()).toMatchObject({ totalClicks: 40 });
      expect(await stores.readStore.count("links_b1", {})).toBe(0);
      expect((await readBuilds(stores.readStore)).building).toEqual({});
    });

    it("are made by one builder at a time; one that was silent for a minute is taken for dead", async () => {
      await happenings(stores.eventStore);
      const dying = { ...deps(), eventStore: { ...boundEvents(stores.eventStore), readAll: never } };
      void rebuild(dying, [links as unknown as Projection], quiet);
      await expect.poll(async () => (await readBuilds(stores.readStore)).building).not.toEqual({});
      await expect(rebuild(deps(), [links as unknown as Projection], quiet)).rejects.toMatchObject({
        code: "build_in_progress",
      });
      const later = () => new Date(Date.now() + 61_000);
      const [rebuilt] = await rebuild({ ...deps(), clock: later }, [links as unknown as Projection], quiet);
      expect(rebuilt).toMatchObject({ build: 2, documents: 20 });
    });

    it("tell how far they are", async () => {
      await happenings(stores.eventStore);
      const told: Progress[] = [];
      await rebuild(deps(), allProjections, (progress) => told.push(progress));
      expect(told.at(-1)).toMatchObject({ events: 820, done: 1, secondsLeft: 0 });
      expect(told.at(-1)?.eventsPerSecond).toBeGreaterThan(0);
    });

    it("refuse writes under the projection's name, which would miss the live build", async () => {
      await expect(queried().replace("links", [])).rejects.toThrow("runner only");
      await expect(queried().saveCheckpoint("links:1", { position: "1", recordedAt: "" })).rejects.toThrow();
      await queried().saveCheckpoint("webhook-router", { position: "1", recordedAt: "" });
      expect(await queried().checkpoint("webhook-router")).toMatchObject({ position: "1" });
    });
  });
}

/** 20 links with 40 clicks each, in streams of three writers. */
async function happenings(eventStore: EventStore): Promise<void> {
  for (let n = 0; n < 20; n++)
    await append(eventStore, `link-sho.rt/l${n}`, [linkCreated({ slug: `l${n}`, accountId: ACCOUNT })]);
  for (let turn = 0; turn < 40; turn++) {
    const clicks = Array.from({ length: 20 }, (_, n) =>
      linkClicked({
        link: `sho.rt/l${n}`,
        kind: (["click", "preview", "qr_scan"] as const)[turn % 3] ?? "click",
        at: `2026-03-0${1 + (turn % 5)}T1${turn % 10}:15:00.000Z`,
        country: ["FR", "DE", "JP"][(turn + n) % 3] ?? "",
        referrerHost: `site-${(turn * n) % 7}.example`,
      }),
    );
    await append(eventStore, `clicks-${"abc"[turn % 3]}-20260301`, clicks);
  }
}

function fails(): never {
  throw new Error("not today");
}

function never(): Promise<never> {
  return new Promise(() => undefined);
}

function boundStore(store: ReadStore): ReadStore {
  return {
    ensure: (specs) => store.ensure(specs),
    get: (collection, id) => store.get(collection, id),
    getMany: (collection, ids) => store.getMany(collection, ids),
    find: (collection, query) => store.find(collection, query),
    count: (collection, query) => store.count(collection, query),
    replace: (collection, documents) => store.replace(collection, documents),
    clear: (collection) => store.clear(collection),
    checkpoint: (name) => store.checkpoint(name),
    checkpoints: () => store.checkpoints(),
    saveCheckpoint: (name, checkpoint) => store.saveCheckpoint(name, checkpoint),
    resetCheckpoint: (name) => store.resetCheckpoint(name),
    close: () => store.close(),
  };
}

function boundEvents(store: EventStore): EventStore {
  return {
    append: (...given) => store.append(...given),
    read: (...given) => store.read(...given),
    readAll: (options) => store.readAll(options),
    subscribe: (options) => store.subscribe(options),
    head: () => store.head(),
    close: () => store.close(),
  };
}
