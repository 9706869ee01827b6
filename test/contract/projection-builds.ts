// The contract of rebuilds on every read store: an equal model, an atomic takeover, and a rollback.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { asBuild, type Build, queriedBuild } from "../../src/projections/builds/build.ts";
import { changeBuilds, readBuilds } from "../../src/projections/builds/builds-document.ts";
import type { ClaimDeps } from "../../src/projections/builds/claim-builds.ts";
import { rebuild, rollBack } from "../../src/projections/builds/finish-builds.ts";
import { foldBuilds } from "../../src/projections/builds/fold-builds.ts";
import { registerRebuild, registerRollback } from "../../src/projections/builds/register-builds.ts";
import { type KeyDocument, keys } from "../../src/projections/definitions/keys.ts";
import type { LinkClicksDocument } from "../../src/projections/definitions/link-clicks.ts";
import { links } from "../../src/projections/definitions/links.ts";
import { allProjections, clickProjections } from "../../src/projections/groups.ts";
import { checkpointName, type Projection } from "../../src/projections/projection.ts";
import { ProjectionRunner } from "../../src/projections/runner/runner.ts";
import type { Document } from "../../src/stores/read-store/port.ts";
import { ACCOUNT, AT, KEY, linkClicked } from "../support/event-store/stored-events.ts";
import {
  type BuildsFixture,
  CLICKS,
  happenings,
  LINK,
  programOn,
  totalsOfNow,
} from "../support/projections/builds-of.ts";
import { committingStore } from "../support/projections/committing-store.ts";
import { storeWith } from "../support/runtime/store-with.ts";
import { append } from "../support/runtime/stores.ts";

const linksOfNow = links as unknown as Projection;
const keysOfNow = keys as unknown as Projection;

export function projectionBuildsContract(name: string, open: () => Promise<BuildsFixture>): void {
  describe(`builds of projections: ${name}`, () => {
    let stores: BuildsFixture;
    let program: ReturnType<typeof programOn>;
    beforeEach(async () => {
      stores = await open();
      program = programOn(stores);
      await program.register();
      await happenings(stores.eventStore);
    });
    afterEach(() => stores.cleanUp());

    const click = () => append(stores.eventStore, CLICKS, [linkClicked({ link: LINK })]);
    const builtOf = async (projection: string) =>
      (await readBuilds(stores.readStore)).projections[projection];
    const issueKey = () =>
      append(stores.eventStore, `account-${ACCOUNT}`, [
        {
          type: "KeyIssued",
          data: { accountId: ACCOUNT, keyId: KEY, keyHash: "0".repeat(64), hint: "abcd", label: "", at: AT },
        },
      ]);
    const keyStatus = async () => (await program.queried.get<KeyDocument>(keys.collection.name, KEY))?.status;
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
      const { builds } = await rebuild(program.deps, allProjections);
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
      await rebuild({ ...program.deps, readStore, maxEvents: 100 }, allProjections);
      expect(seen.length).toBeGreaterThan(5);
      expect(new Set(seen)).toEqual(new Set([999]));
      expect(await program.totals()).toMatchObject({ totalClicks: 40 });
    });

    it("are continued by a running projector, which misses no event", async () => {
      const clicked = programOn(stores, clickProjections);
      const total = async () => (await program.totals())?.totalClicks;
      await clicked.projecting(async (group) => {
        await expect.poll(total).toBe(40);
        const rebuilding = rebuild(program.deps, clickProjections);
        for (let n = 0; n < 10; n++) await click();
        await rebuilding;
        for (let n = 0; n < 10; n++) await click();
        await expect.poll(total).toBe(60);
        const statuses = await group.status();
        expect(statuses.every(({ build, answers }) => build > 0 && answers === "this")).toBe(true);
      });
    });

    it("can be rolled back and forth: each time what they lack is folded first", async () => {
      await program.catchUp();
      await damage();
      await rebuild(program.deps, [totalsOfNow]);
      await click();
      await program.projecting(() => expect.poll(program.totals).toMatchObject({ totalClicks: 41 }));
      const [rebuilt, first] = [1, 0];
      const result = { name: "link-clicks", version: totalsOfNow.version, active: true };
      const { builds, events } = await rollBack(program.deps, [totalsOfNow]);
      expect(builds).toMatchObject([{ ...result, build: first, previous: rebuilt }]);
      expect(events).toBe(1);
      expect(await program.totals()).toMatchObject({ totalClicks: 1000 });
      await click();
      await rollBack(program.deps, [totalsOfNow]);
      expect(await program.totals()).toMatchObject({ totalClicks: 42 });
    });

    it("keep all clicks that came since the previous one was folded, and refuse a key deactivated since", async () => {
      await program.catchUp();
      await issueKey();
      await program.projecting(() => expect.poll(keyStatus).toBe("active"));
      await rebuild(program.deps, [totalsOfNow, keysOfNow]);
      const clicks = Array.from({ length: 2_960 }, () => linkClicked({ link: LINK }));
      await append(stores.eventStore, CLICKS, clicks);
      await append(stores.eventStore, `account-${ACCOUNT}`, [
        { type: "KeyDeactivated", data: { accountId: ACCOUNT, keyId: KEY, at: AT } },
      ]);
      await program.projecting(async () => {
        await expect.poll(program.totals).toMatchObject({ totalClicks: 3_000 });
        await expect.poll(keyStatus).toBe("deactivated");
      });
      const seen = new Set<unknown>();
      const readStore = committingStore(stores.readStore, async (_, write) => {
        await write();
        seen.add((await program.totals())?.totalClicks).add(await keyStatus());
      });
      await rollBack({ ...program.deps, readStore, maxEvents: 500 }, [totalsOfNow, keysOfNow]);
      expect(await builtOf("link-clicks")).toMatchObject({ active: { build: 0 }, previous: { build: 1 } });
      expect(await program.totals()).toMatchObject({ totalClicks: 3_000 });
      expect(await keyStatus()).toBe("deactivated");
      expect(seen).toEqual(new Set([3_000, "deactivated"]));
    });

    it.each([
      ["a rebuild", (deps: ClaimDeps) => registerRebuild(deps, [totalsOfNow])],
      ["a rollback", (deps: ClaimDeps) => registerRollback(deps, [totalsOfNow])],
    ])("never switch to one that lacks what the active one has folded, by %s", async (_, register) => {
      await program.catchUp();
      await rebuild(program.deps, [totalsOfNow]);
      await register(program.deps);
      const { active } = (await builtOf("link-clicks")) ?? {};
      let behindBy = 3;
      // Another process folds the active build whenever this one looks at how far both are.
      const readStore = storeWith(stores.readStore, {
        async checkpoints() {
          if (behindBy-- > 0) {
            await click();
            await new ProjectionRunner({
              ...program.deps,
              projections: [asBuild(totalsOfNow, active as Build)],
            }).catchUp();
          }
          return await stores.readStore.checkpoints();
        },
        async replace(collection, documents) {
          const before = (await builtOf("link-clicks"))?.active?.build;
          const position = async (build: number | undefined) =>
            (await stores.readStore.checkpoint(checkpointName({ ...totalsOfNow, build: build ?? 0 })))
              ?.position ?? "";
          await stores.readStore.replace(collection, documents);
          const after = (await builtOf("link-clicks"))?.active?.build;
          expect((await position(after)) >= (await position(before))).toBe(true);
        },
      });
      for (let n = 0; n < 5 && (await builtOf("link-clicks"))?.building; n++)
        await foldBuilds({ ...program.deps, readStore }, [totalsOfNow], new AbortController().signal);
      expect((await builtOf("link-clicks"))?.active?.build).not.toBe(active?.build);
      expect(behindBy).toBeLessThan(0);
      expect(await program.totals()).toMatchObject({ totalClicks: 43 });
    });

    it("take the place of one that is newer than the log, which was restored", async () => {
      await program.catchUp();
      const { position = "" } = (await stores.readStore.checkpoint(checkpointName(totalsOfNow))) ?? {};
      await stores.readStore.saveCheckpoint(checkpointName(totalsOfNow), { position: `${position}9` });
      await rebuild(program.deps, [totalsOfNow]);
      expect((await builtOf("link-clicks"))?.active?.build).toBe(1);
    });

    it("can't be rolled back to by a program that has other code or rules", async () => {
      await program.catchUp();
      await changeBuilds(program.deps, ({ projections }) => {
        const entry = projections["link-clicks"];
        if (entry?.active) entry.previous = { ...entry.active, version: 0, build: 7 };
        delete entry?.building;
      });
      await expect(rollBack(program.deps, [totalsOfNow])).rejects.toMatchObject({
        code: "no_previous_build",
        message: expect.stringContaining("version 0"),
      });
    });

    it("can't be rolled back without a previous build", async () => {
      await expect(rollBack(program.deps, [linksOfNow])).rejects.toMatchObject({
        code: "no_previous_build",
      });
    });

    it("are two at most: a rebuild drops the build that was the previous one", async () => {
      await program.catchUp();
      for (let n = 0; n < 3; n++) await rebuild(program.deps, [linksOfNow]);
      const counts = ["links", "links_b1", "links_b2", "links_b3"].map((one) =>
        stores.readStore.count(one, {}),
      );
      expect(await Promise.all(counts)).toEqual([0, 0, 20, 20]);
      const names = Object.keys(await stores.readStore.checkpoints());
      expect(names.filter((one) => one.startsWith("links:")).sort()).toEqual(
        [2, 3].map((build) => checkpointName({ ...links, build })),
      );
    });

    it("wait at an event of a newer program, and take over once that one folds it", async () => {
      await program.catchUp();
      const eventStore = storeWith(stores.eventStore, {
        readAll: async (options) =>
          (await stores.eventStore.readAll(options)).map((event, n) =>
            n === 50 ? { ...event, metadata: { ...event.metadata, schemaVersion: 99 } } : event,
          ),
      });
      await expect(rebuild({ ...program.deps, eventStore }, [totalsOfNow])).rejects.toMatchObject({
        code: "build_waits",
        message: expect.stringContaining("link-clicks waits for a newer program"),
      });
      expect(await program.totals()).toMatchObject({ totalClicks: 40 });
      expect((await rebuild(program.deps, [totalsOfNow])).builds).toMatchObject([{ active: true }]);
      expect(await program.totals()).toMatchObject({ totalClicks: 40 });
    });
  });
}
