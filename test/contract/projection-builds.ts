// The contract of rebuilds on every read store: an equal model, an atomic takeover, and a rollback.

import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Builds, queriedBuild } from "../../src/projections/builds/build.ts";
import { readBuilds } from "../../src/projections/builds/builds-document.ts";
import { rebuild } from "../../src/projections/builds/finish-builds.ts";
import { rollBack } from "../../src/projections/builds/roll-back.ts";
import { accounts } from "../../src/projections/definitions/accounts.ts";
import type { LinkClicksDocument } from "../../src/projections/definitions/link-clicks.ts";
import { links } from "../../src/projections/definitions/links.ts";
import { allProjections, clickProjections } from "../../src/projections/groups.ts";
import { checkpointName, type Projection } from "../../src/projections/projection.ts";
import type { Progress } from "../../src/projections/runner/progress.ts";
import type { Document } from "../../src/read-store/port.ts";
import { linkClicked } from "../support/event-store/stored-events.ts";
import {
  type BuildsFixture,
  CLICKS,
  happenings,
  LINK,
  programOn,
  quiet,
  totalsOfNow,
} from "../support/projections/builds-of.ts";
import { committingStore } from "../support/projections/committing-store.ts";
import { undoingOneWrite } from "../support/projections/undone-write.ts";
import { storeWith } from "../support/runtime/store-with.ts";
import { append } from "../support/runtime/stores.ts";

const linksOfNow = links as unknown as Projection;

export function projectionBuildsContract(name: string, open: () => Promise<BuildsFixture>): void {
  describe(`builds of projections: ${name}`, () => {
    let stores: BuildsFixture;
    let program: ReturnType<typeof programOn>;
    beforeEach(async () => {
      stores = await open();
      program = programOn(stores);
      await program.adopt();
      await happenings(stores.eventStore);
    });
    afterEach(() => stores.cleanUp());

    const click = () => append(stores.eventStore, CLICKS, [linkClicked({ link: LINK })]);
    const damage = async () => {
      const build = queriedBuild(totalsOfNow, await readBuilds(stores.readStore)) ?? totalsOfNow;
      const { name: collection } = build.collection;
      const document = await stores.readStore.get<LinkClicksDocument>(collection, LINK);
      await stores.readStore.drop(collection);
      await stores.readStore.replace(collection, [{ ...document, totalClicks: 999 } as Document]);
    };

    it("equal the active build, document for document", async () => {
      await program.catchUp();
      const before = await Promise.all(allProjections.map(program.documentsAndParts));
      const { builds } = await rebuild(program.deps, allProjections, quiet);
      expect(builds.every(({ active, previous, build }) => active && previous === 0 && build === 1)).toBe(
        true,
      );
      expect(await Promise.all(allProjections.map(program.documentsAndParts))).toEqual(before);
      expect(builds.map(({ documents }) => documents)).toEqual(before.map((all) => all.length));
      expect(before.flat().length).toBeGreaterThan(50);
    });

    it("are invisible before they are complete, and then become active together", async () => {
      await program.catchUp();
      await damage();
      expect(await program.totals()).toMatchObject({ totalClicks: 999 });
      const seen: (number | undefined)[] = [];
      const readStore = committingStore(stores.readStore, async (_, write) => {
        seen.push((await program.totals())?.totalClicks);
        await write();
      });
      await rebuild({ ...program.deps, readStore, maxEvents: 100 }, allProjections, quiet);
      expect(seen.length).toBeGreaterThan(5);
      expect(new Set(seen)).toEqual(new Set([999]));
      expect(await program.totals()).toMatchObject({ totalClicks: 40 });
    });

    it("are made in one pass, and are as far as the active build, where their own events are older", async () => {
      await program.catchUp();
      const reached = async () => (await program.queried.checkpoint(checkpointName(accounts)))?.position;
      const before = await reached();
      const pages: number[] = [];
      const eventStore = storeWith(stores.eventStore, {
        async readAll(options) {
          const events = await stores.eventStore.readAll(options);
          pages.push(events.length);
          return events;
        },
      });
      await rebuild({ ...program.deps, eventStore }, [accounts], quiet);
      expect(pages).toEqual([0]);
      expect(await reached()).toBe(before);
    });

    it("are continued by a running projector, which misses no event", async () => {
      const clicked = programOn(stores, clickProjections);
      const total = async () => (await program.totals())?.totalClicks;
      await clicked.projecting(async (group) => {
        await expect.poll(total).toBe(40);
        const rebuilding = rebuild(program.deps, clickProjections, quiet);
        for (let n = 0; n < 10; n++) await click();
        await rebuilding;
        for (let n = 0; n < 10; n++) await click();
        await expect.poll(total).toBe(60);
        const statuses = await group.status();
        expect(statuses.every(({ build, answers }) => build > 0 && answers === "this")).toBe(true);
      });
    });

    it("can be rolled back and forth, and continue from their checkpoints", async () => {
      await program.catchUp();
      await damage();
      await rebuild(program.deps, [totalsOfNow], quiet);
      await click();
      const { build: rebuilt } =
        (await readBuilds(stores.readStore)).projections["link-clicks"]?.active ?? {};
      expect(await rollBack(program.deps, [totalsOfNow])).toEqual([
        { name: "link-clicks", version: totalsOfNow.version, build: 0, previous: rebuilt },
      ]);
      await program.projecting(() => expect.poll(program.totals).toMatchObject({ totalClicks: 1000 }));
      await rollBack(program.deps, [totalsOfNow]);
      await program.projecting(() => expect.poll(program.totals).toMatchObject({ totalClicks: 41 }));
    });

    it("take over although the write that activated them was undone by a concurrent one", async () => {
      await program.catchUp();
      const activated = ({ projections }: Builds) => projections.links?.active?.build === 1;
      const { readStore, reads } = undoingOneWrite(stores.readStore, activated);
      const { builds } = await rebuild({ ...program.deps, readStore }, [linksOfNow], quiet);
      expect(reads()).toBeGreaterThan(2);
      expect(builds).toMatchObject([{ name: "links", build: 1, active: true }]);
    });

    it("can't be rolled back without a previous build", async () => {
      await expect(rollBack(program.deps, [linksOfNow])).rejects.toMatchObject({ code: "no_previous_build" });
    });

    it("are two at most: a rebuild drops the build that was the previous one", async () => {
      await program.catchUp();
      for (let n = 0; n < 3; n++) await rebuild(program.deps, [linksOfNow], quiet);
      const counts = ["links", "links_b1", "links_b2", "links_b3"].map((one) =>
        stores.readStore.count(one, {}),
      );
      expect(await Promise.all(counts)).toEqual([0, 0, 20, 20]);
      const names = Object.keys(await stores.readStore.checkpoints());
      expect(names.filter((one) => one.startsWith("links:")).sort()).toEqual(
        [2, 3].map((build) => checkpointName({ ...links, build })),
      );
    });

    it("stay as they were when an event can't be folded", async () => {
      await program.catchUp();
      const brittle: Projection = {
        ...totalsOfNow,
        evolve() {
          throw new Error("not today");
        },
      };
      await expect(rebuild(program.deps, [brittle, linksOfNow], quiet)).rejects.toMatchObject({
        code: "build_faulted",
        message: expect.stringContaining("link-clicks can't fold LinkClicked"),
      });
      expect(await program.totals()).toMatchObject({ totalClicks: 40 });
      const { projections, retired } = await readBuilds(stores.readStore);
      expect(Object.values(projections).filter(({ building }) => building)).toEqual([]);
      expect(retired).toEqual({});
    });

    it.each([
      ["a moment later", 11_000],
      ["when the clock was set back", -3_600_000],
    ])("are made by one builder at a time; the work of a crashed one is continued %s", async (_, afterMs) => {
      const pages: (number | undefined)[] = [];
      const dying = storeWith(stores.eventStore, {
        readAll: () => new Promise<never>(() => pages.push(1)),
      });
      void rebuild({ ...program.deps, eventStore: dying }, [linksOfNow], quiet);
      await expect.poll(() => pages.length).toBeGreaterThan(0);
      await expect(rebuild(program.deps, [linksOfNow], quiet)).rejects.toMatchObject({
        code: "build_in_progress",
      });
      const later = () => new Date(Date.now() + afterMs);
      const { builds } = await rebuild({ ...program.deps, clock: later }, [linksOfNow], quiet);
      expect(builds).toMatchObject([{ build: 1, documents: 20, active: true }]);
    });

    it("report their progress", async () => {
      const reported: Progress[] = [];
      const { events } = await rebuild(program.deps, allProjections, (progress) => reported.push(progress));
      expect(events).toBe(820);
      expect(reported.at(-1)).toMatchObject({ events: 820, done: 1, secondsLeft: 0 });
      expect(reported.at(-1)?.eventsPerSecond).toBeGreaterThan(0);
    });

    it("refuse writes under the projection's name, which would miss the active build", async () => {
      const { queried } = program;
      await expect(queried.replace("links", [])).rejects.toThrow("runner only");
      await expect(queried.saveCheckpoint(checkpointName(links), { position: "1" })).rejects.toThrow();
      await queried.saveCheckpoint("webhook-router", { position: "1" });
      expect(await queried.checkpoint("webhook-router")).toMatchObject({ position: "1" });
    });
  });
}
