// What builds promise on every read store: nothing is counted twice or missed, whoever folds, and nothing half-filled is read.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { PRESENT_RULES } from "../../src/events/classification/classify.ts";
import { withdrawalStream } from "../../src/events/streams.ts";
import { activeReadStore } from "../../src/projections/builds/active-read-store.ts";
import { finishBuild } from "../../src/projections/builds/await-builds.ts";
import {
  type Building,
  begin,
  buildingOf,
  cancel,
  queriedBuild,
  rollBack,
} from "../../src/projections/builds/builds.ts";
import { changeBuilds, readBuilds } from "../../src/projections/builds/builds-document.ts";
import { completeBuild } from "../../src/projections/builds/complete-build.ts";
import { fieldsThatDiffer } from "../../src/projections/builds/field-differences.ts";
import { cancelBuild } from "../../src/projections/builds/operate.ts";
import { foldAnew, registerBuilds } from "../../src/projections/builds/register-builds.ts";
import { GroupRun } from "../../src/projections/builds/run-group.ts";
import { verifyBuilds } from "../../src/projections/builds/verify-build.ts";
import { clickTables } from "../../src/projections/definitions/click-tables/chunk.ts";
import { type LinkTotalsDocument, linkTotals } from "../../src/projections/definitions/link-totals.ts";
import { checkpointName, collectionName } from "../../src/projections/fold/build.ts";
import { clicks, groupCollections, type ProjectionGroup } from "../../src/projections/groups.ts";
import { openScratchStore } from "../../src/service/stores/backend.ts";
import { upTo } from "../../src/stores/event-store/log-pages.ts";
import type { Checkpoint, Document, ReadStore } from "../../src/stores/read-store/port.ts";
import { operator } from "../support/commands/command-deps.ts";
import { ACCOUNT, linkClicked } from "../support/event-store/stored-events.ts";
import { foldListed, silent } from "../support/projections/fold-groups.ts";
import { clicksRestored, clicksWithdrawn } from "../support/projections/withdrawal-events.ts";
import { append, openStores, type Stores } from "../support/runtime/stores.ts";
import { until } from "../support/runtime/until.ts";

const LINKS = 5;
const HANGS_MS = { timeout: 60_000 };

/** The group as its next release folds it. */
const next: ProjectionGroup = {
  ...clicks,
  version: clicks.version + 1,
  projections: [
    {
      collection: { name: "next-clicks", indexes: [] },
      handles: ["LinkClicked"],
      key: () => "all",
      empty: () => ({ hits: 0 }),
      evolve: (counted) => ({ hits: (counted as unknown as { hits: number }).hits + 1 }),
    },
  ],
};

export function projectionBuildsContract(name: string, open: () => Promise<Stores>): void {
  describe(`builds of projections on ${name}`, HANGS_MS, () => {
    let stores: Stores;
    let clicked: number;

    beforeEach(async () => {
      stores = await open();
      clicked = 0;
    });
    afterEach(() => stores.close());

    const happen = async (count = 20, fields: Parameters<typeof linkClicked>[0] = {}) => {
      const events = Array.from({ length: count }, (_, n) => {
        const at = `2026-03-0${1 + (n % 4)}T10:${String(n % 60).padStart(2, "0")}:00.000Z`;
        return linkClicked({ link: `sho.rt/l${(clicked + n) % LINKS}`, at, accountId: ACCOUNT, ...fields });
      });
      clicked += count;
      return (await append(stores.eventStore, `clicks-a${clicked % 2}-20260301`, events)).position;
    };
    const program = (
      group: ProjectionGroup = clicks,
      on: Pick<Stores, "eventStore" | "readStore"> = stores,
    ) => {
      const { newId } = runtimeDeps;
      const deps = { ...on, newId, log: silent, isServed: async () => false };
      const { signal } = new AbortController();
      return {
        deps,
        catchUp: () => foldListed(deps, group),
        finish: async () => await finishBuild(deps, group, await readBuilds(deps.readStore, group), signal),
        change: (to: Parameters<typeof changeBuilds>[2]) => changeBuilds(deps, group, to),
        /** Runs as a projector does, until `work` has ended. */
        async running(work: () => Promise<void>) {
          const ended = new AbortController();
          const run = new GroupRun(deps, group).run(ended.signal);
          await work().finally(() => ended.abort());
          await run;
        },
        async documents(projection = linkTotals.name): Promise<Document[]> {
          const build = queriedBuild(group, await readBuilds(stores.readStore, group));
          if (!build) return [];
          return await stores.readStore.find(collectionName(projection, build), { limit: 10_000 });
        },
        async counted(): Promise<number> {
          const documents = (await this.documents()) as LinkTotalsDocument[];
          return documents.reduce((sum, { totalClicks }) => sum + totalClicks, 0);
        },
        async verify() {
          const scratch = await openScratchStore();
          return await verifyBuilds({ ...deps, scratch }, [group]).finally(() => scratch.close());
        },
      };
    };
    const differences = (some: readonly Document[], others: readonly Document[]) => {
      const byId = new Map(others.map((document) => [document._id, document]));
      expect(some.map(({ _id }) => _id).sort()).toEqual([...byId.keys()].sort());
      return some.flatMap((one) => fieldsThatDiffer(one, byId.get(one._id) as Document));
    };

    const dropAll = async () => {
      const names = Object.keys(await stores.readStore.checkpoints());
      for (const { name } of groupCollections(clicks)) await stores.readStore.drop(name);
      for (const checkpoint of names) await stores.readStore.dropCheckpoint(checkpoint);
    };
    const writtenBy = (write: ReadStore["write"]) =>
      new Proxy(stores.readStore, {
        get: (store, name) => (name === "write" ? write : Reflect.get(store, name).bind(store)),
      });

    it("equal what was folded live when they are folded again, and a rollback folds what they lack", async () => {
      const now = program();
      await registerBuilds(now.deps, clicks);
      for (let n = 0; n < 3; n++) {
        await happen();
        const event = clicksWithdrawn({ link: `sho.rt/l${n}` }, n, { to: "2026-03-02T12:00:00.000Z" });
        await append(stores.eventStore, withdrawalStream(`sho.rt/l${n}`), [event]);
        await now.catchUp();
      }
      await append(stores.eventStore, withdrawalStream("sho.rt/l1"), [
        clicksRestored({ link: "sho.rt/l1" }, 1),
      ]);
      await now.catchUp();
      // Chunks are cut where commits happened to be: verification compares their rows.
      const compared = groupCollections(clicks).filter((spec) => spec !== clickTables);
      const live = await Promise.all(compared.map((one) => now.documents(one.name)));
      await now.change((builds) => begin(builds, clicks));
      expect(await now.finish()).toMatchObject({ build: 1, previous: 0 });
      for (const [n, { name }] of compared.entries())
        expect(differences(live[n] ?? [], await now.documents(name))).toEqual([]);
      expect(await now.verify()).toMatchObject({ ok: true, differences: [] });
      await happen(7);
      const before = await now.counted();
      await now.change((builds) => rollBack(builds, clicks));
      expect(await now.finish()).toMatchObject({ build: 0, previous: 1 });
      expect(await now.counted()).toBe(before + 7);
      expect(await now.verify()).toMatchObject({ ok: true });
    });

    it("of a raised version are folded beside what answers, which counts on until they take over", async () => {
      const [old, raised] = [program(), program(next)];
      await registerBuilds(old.deps, clicks);
      await happen(500);
      await old.running(async () => {
        await until("the old program to count", async () => (await old.counted()) === 500);
        await registerBuilds(raised.deps, next);
        expect(await raised.counted()).toBe(500);
        await happen(50);
        await until("its numbers to rise", async () => (await old.counted()) === 550);
        await raised.running(async () => {
          const isNext = async () => (await raised.documents("next-clicks")).length > 0;
          await until("the switch", isNext);
          await happen(50);
          await until("both to count on", async () =>
            [await old.counted(), await raised.counted()].every((counted) => counted === 600),
          );
        });
      });
      expect(await old.documents("next-clicks")).toEqual([]);
      await old.change((builds) => rollBack(builds, clicks));
      await old.finish();
      expect((await readBuilds(stores.readStore, clicks)).active?.version).toBe(clicks.version);
      expect(await old.counted()).toBe(600);
    });

    it("answer nothing before the first is complete", async () => {
      await happen();
      const now = program();
      await registerBuilds(now.deps, clicks);
      const queried = activeReadStore({ store: stores.readStore, groups: [clicks], clock: () => 0 });
      await expect(queried.get(linkTotals.name, "sho.rt/l0")).rejects.toMatchObject({ retryAfter: 2 });
      await now.catchUp();
      expect(await queried.get(linkTotals.name, "sho.rt/l0")).toMatchObject({ totalClicks: 4 });
    });

    it("count each click once when two programs fold the same one", async () => {
      const [one, other] = [program(), program()];
      await registerBuilds(one.deps, clicks);
      await one.running(() =>
        other.running(async () => {
          for (let n = 0; n < 10; n++) await happen(100);
          await until("all to be counted", async () => (await one.counted()) === 1_000);
        }),
      );
      expect(await one.verify()).toMatchObject({ ok: true });
    });

    it("keep what a projector has committed while a command begins to fold the same one", async () => {
      await happen(60);
      const folding = program();
      await registerBuilds(folding.deps, clicks);
      // The command finds no checkpoint, and goes on once the projector has one and has folded all.
      const looked = Promise.withResolvers<void>();
      const folded = Promise.withResolvers<void>();
      const building = buildingOf(clicks, await readBuilds(stores.readStore, clicks));
      const name = building && checkpointName(clicks, building);
      let looks = 0;
      const late = new Proxy(stores.readStore, {
        get: (store, method) =>
          method !== "checkpoint"
            ? Reflect.get(store, method).bind(store)
            : async (of: string) => {
                const stored = await store.checkpoint(of);
                if (of === name && looks++ === 0) {
                  looked.resolve();
                  await folded.promise;
                }
                return stored;
              },
      });
      const command = program(clicks, { ...stores, readStore: late });
      const ending = command.finish();
      await looked.promise;
      await folding.finish();
      folded.resolve();
      await ending.catch(() => undefined);
      expect(await folding.counted()).toBe(60);
      expect(await folding.verify()).toMatchObject({ ok: true, differences: [] });
    });

    it("are folded anew where all was dropped during their first commit", async () => {
      await happen(200);
      let isDropped = false;
      const write: ReadStore["write"] = async (batch) => {
        const { documents, checkpoint } = batch;
        if (isDropped || documents.length === 0 || !checkpoint) return await stores.readStore.write(batch);
        isDropped = true;
        await stores.readStore.write({ documents });
        await dropAll();
        await stores.readStore.write({ documents: [], checkpoint });
      };
      const now = program(clicks, { eventStore: stores.eventStore, readStore: writtenBy(write) });
      await now.running(() => until("all to be counted", async () => (await now.counted()) === 200));
      expect(isDropped).toBe(true);
      expect(await now.verify()).toMatchObject({ ok: true });
    });

    it("go on where another program has committed a part of what was taken", async () => {
      await happen();
      await program().catchUp();
      const part = await happen();
      await happen();
      const { eventStore, readStore } = stores;
      const command = program(clicks, { eventStore: upTo(eventStore, part), readStore });
      let commits = 0;
      const write: ReadStore["write"] = async (batch) => {
        const { name, from, to } = batch.checkpoint ?? {};
        // Days are closed beside the checkpoint.
        if (name === clicks.name && from?.position !== to?.position && commits++ === 0)
          await command.catchUp();
        await readStore.write(batch);
      };
      const projector = program(clicks, { eventStore, readStore: writtenBy(write) });
      const before = await readBuilds(readStore, clicks);
      await projector.catchUp();
      expect(commits).toBe(2);
      expect(await readBuilds(readStore, clicks)).toEqual(before);
      expect(await projector.counted()).toBe(60);
      expect(await projector.verify()).toMatchObject({ ok: true });
    });

    it("are folded anew after their documents were dropped while clicks come", async () => {
      const now = program();
      await registerBuilds(now.deps, clicks);
      await now.running(async () => {
        await happen(200);
        await until("the first to be counted", async () => (await now.counted()) === 200);
        const flood = async () => {
          for (let n = 0; n < 20; n++) await happen(20);
        };
        await Promise.all([flood(), dropAll()]);
        await until("all to be counted", async () => (await now.counted()) === 600, { withinMs: 20_000 });
      });
      expect(await now.verify()).toMatchObject({ ok: true });
    });

    it.each([
      ["they were dropped", 0, dropAll],
      [
        "older ones were put back",
        1,
        async (older: Checkpoint) => {
          await stores.readStore.dropCheckpoint(clicks.name);
          const checkpoint = { name: clicks.name, from: undefined, to: older };
          await stores.readStore.write({ documents: [], checkpoint });
        },
      ],
    ])("are folded anew within seconds where %s while nothing happens", async (_, next, lose) => {
      let looks = 0;
      const readStore = new Proxy(stores.readStore, {
        get(store, name) {
          if (name === "checkpoints") looks += 1;
          return Reflect.get(store, name).bind(store);
        },
      });
      const now = program(clicks, { eventStore: stores.eventStore, readStore });
      const first = await happen(10);
      await now.catchUp();
      const older = (await stores.readStore.checkpoint(clicks.name)) as Checkpoint;
      expect(older.position).toBe(first);
      await now.running(async () => {
        await happen(10);
        await until("all to be counted", async () => (await now.counted()) === 20);
        const before = looks;
        await until("the next look", async () => looks > before);
        await lose(older);
        const isFoldedAnew = async () => {
          const { active } = await readBuilds(stores.readStore, clicks);
          return active?.build === next && (await now.counted()) === 20;
        };
        await until("all to be counted again", isFoldedAnew, { withinMs: 10_000 });
      });
      expect(await now.verify()).toMatchObject({ ok: true });
    });

    it("are folded anew where the log is another one, from which nothing is answered meanwhile", async () => {
      const other = await openStores();
      try {
        await happen(60);
        await program().catchUp();
        const { eventStore } = other;
        const put = program(clicks, { eventStore, readStore: stores.readStore });
        const restored = Array.from({ length: 80 }, () => linkClicked({ link: "sho.rt/restored" }));
        await append(eventStore, "clicks-a-20260301", restored);
        const builds = await registerBuilds(put.deps, clicks);
        expect(builds.active).toBeUndefined();
        expect(builds.building?.because).toContain("another log");
        await put.running(() => until("the build", async () => (await put.counted()) === 80));
        expect((await put.documents()).map(({ _id }) => _id)).toEqual(["sho.rt/restored"]);
      } finally {
        await other.close();
      }
    });

    it("that are cancelled are dropped, and what answers goes on", async () => {
      await happen();
      const now = program();
      await now.catchUp();
      const { active } = await now.change((builds) => begin(builds, clicks));
      const { retired } = await now.change((builds) => cancel(builds, clicks));
      expect(retired).toHaveLength(1);
      await now.running(() =>
        until(
          "it to be dropped",
          async () => (await readBuilds(stores.readStore, clicks)).retired.length === 0,
        ),
      );
      expect((await readBuilds(stores.readStore, clicks)).active).toEqual(active);
      expect(await now.counted()).toBe(20);
    });

    it("that are cancelled leave nothing, also where somebody begins to fold them just then", async () => {
      await happen();
      const now = program();
      await now.catchUp();
      const { building } = await now.change((builds) => begin(builds, clicks));
      await cancelBuild({ ...runtimeDeps, ...stores }, operator, clicks);
      const { signal } = new AbortController();
      const { outcome } = await completeBuild(now.deps, clicks, building as Building, { signal });
      expect(outcome).toBe("cancelled");
      expect((await readBuilds(stores.readStore, clicks)).building).toBeUndefined();
      const checkpoints = Object.keys(await stores.readStore.checkpoints());
      expect(checkpoints.filter((name) => name.includes("_b"))).toEqual([]);
      expect(await stores.readStore.count(collectionName(linkTotals.name, building as Building), {})).toBe(0);
      expect(await now.counted()).toBe(20);
    });

    it("that two processes fold to their end are not said to be cancelled", async () => {
      await happen();
      const [now, other] = [program(), program()];
      await now.catchUp();
      const { signal } = new AbortController();
      for (let round = 0; round < 10; round++) {
        const { building } = await now.change((builds) => begin(builds, clicks));
        const fold = ({ deps }: typeof now) =>
          completeBuild(deps, clicks, building as Building, { signal }).then(({ outcome }) => outcome);
        const outcomes = await Promise.allSettled([fold(now), fold(other)]);
        const said = outcomes.flatMap((ended) => (ended.status === "fulfilled" ? [ended.value] : []));
        expect(new Set(said)).toEqual(new Set(["active"]));
      }
    });

    it("that are cancelled are not begun again by who finds their documents dropped", async () => {
      await happen();
      await program().catchUp();
      const later = program(next);
      const { building } = await registerBuilds(later.deps, next);
      await cancelBuild({ ...runtimeDeps, ...stores }, operator, next);
      await foldAnew(later.deps, next, building as Building, "they were dropped");
      expect((await readBuilds(stores.readStore, next)).building).toBeUndefined();
    });

    it("count clicks by the present rules where that was asked for, withdrawn ones too", async () => {
      const curl = {
        link: "sho.rt/curl",
        userAgent: "curl/8.0",
        rules: "2, isbot@4.0.0",
        kind: "click",
      } as const;
      await happen(6, { ...curl, visitor: "a".repeat(16) });
      await happen(2, curl);
      const now = program();
      await now.catchUp();
      await now.change((builds) => begin(builds, clicks, PRESENT_RULES));
      await now.finish();
      expect(await now.documents()).toMatchObject([{ click: 0, preview: 8 }]);
      const withdrawn = clicksWithdrawn({ link: curl.link }, 1, { visitor: "a".repeat(16) });
      await append(stores.eventStore, withdrawalStream(curl.link), [withdrawn]);
      await now.catchUp();
      expect(await now.documents()).toMatchObject([{ click: 0, preview: 2 }]);
      expect(await now.verify()).toMatchObject({ ok: true });
    });

    it("are found to differ from the log by the document and its fields", async () => {
      await happen();
      const now = program();
      await now.catchUp();
      const [first] = (await now.documents()) as LinkTotalsDocument[];
      const forged = { ...first, totalClicks: 99, _position: "9".repeat(20) } as LinkTotalsDocument;
      const build = queriedBuild(clicks, await readBuilds(stores.readStore, clicks));
      const collection = collectionName(linkTotals.name, build ?? { build: 0 });
      await stores.readStore.write({ documents: [{ collection, documents: [forged] }] });
      const { ok, differences } = await now.verify();
      expect(ok).toBe(false);
      expect(differences).toMatchObject([
        {
          projection: linkTotals.name,
          id: first?._id,
          problem: "different",
          fields: [{ field: "totalClicks", stored: "99", folded: "4" }],
        },
      ]);
    });
  });
}
