// The contract of a raised projection version on every read store: no query waits for the new build or reads part of it.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readBuilds } from "../../src/projections/builds/builds-document.ts";
import { prepareBuilds } from "../../src/projections/builds/finish-builds.ts";
import { foldBuilds } from "../../src/projections/builds/fold-builds.ts";
import { cancelBuilds, registerMissing } from "../../src/projections/builds/register-builds.ts";
import { accountDays } from "../../src/projections/definitions/days/days.ts";
import { linkClicks } from "../../src/projections/definitions/link-clicks.ts";
import { allProjections } from "../../src/projections/groups.ts";
import { checkpointName } from "../../src/projections/projection.ts";
import { StoreUnavailable } from "../../src/stores/connections/errors.ts";
import type { Document } from "../../src/stores/read-store/port.ts";
import { linkClicked, linkCreated } from "../support/event-store/stored-events.ts";
import {
  type BuildsFixture,
  CLICKS,
  happenings,
  LINK,
  programOn,
  projectionsOfNext,
  totalsOfNext,
} from "../support/projections/builds-of.ts";
import { type Commit, committingStore } from "../support/projections/committing-store.ts";
import { append } from "../support/runtime/stores.ts";

export function projectionVersionsContract(name: string, open: () => Promise<BuildsFixture>): void {
  describe(`a projection whose version was raised: ${name}`, () => {
    let stores: BuildsFixture;
    let now: ReturnType<typeof programOn>;
    let next: ReturnType<typeof programOn>;
    beforeEach(async () => {
      stores = await open();
      now = programOn(stores);
      next = programOn(stores, projectionsOfNext);
      await now.register();
      await happenings(stores.eventStore);
      await now.catchUp();
    });
    afterEach(() => stores.cleanUp());

    const click = () => append(stores.eventStore, CLICKS, [linkClicked({ link: LINK })]);
    const entry = async () => (await readBuilds(stores.readStore)).projections[linkClicks.name];
    /** Builds with few events per commit, and stops before the commit with this number. */
    const interruptedAt = async (commit: number) => {
      const stopped = new AbortController();
      let commits = 0;
      const onProgress = () => {
        commits += 1;
        if (commits === commit) stopped.abort();
      };
      await registerMissing(next.deps, projectionsOfNext, true);
      const deps = { ...next.deps, maxEvents: 100 };
      return await foldBuilds(deps, projectionsOfNext, stopped.signal, onProgress);
    };

    it("is answered from the previous build until the new one takes over, while the other projections continue", async () => {
      const held = Promise.withResolvers<void>();
      const readStore = committingStore(stores.readStore, async ({ changed }, write) => {
        if (changed.some(isOfNext)) await held.promise;
        await write();
      });
      await programOn({ ...stores, readStore }, projectionsOfNext).projecting(async (group) => {
        await click();
        await append(stores.eventStore, "link-sho.rt/more", [linkCreated({ slug: "more" })]);
        await expect.poll(() => next.queried.get("links", "sho.rt/more")).toBeDefined();
        const day = async () => (await next.queried.checkpoint(checkpointName(accountDays)))?.position;
        await expect.poll(async () => (await day()) ?? "").toBe((await stores.eventStore.head()) ?? "");
        expect(await next.totals()).toMatchObject({ totalClicks: 40 });
        expect(await next.totals()).not.toHaveProperty("next");
        const status = (await group.status()).find(({ name: one }) => one === linkClicks.name);
        expect(status).toMatchObject({
          ...{ version: totalsOfNext.version, answers: "other", behind: true, catchUp: { done: 0 } },
        });
        held.resolve();
        await expect.poll(next.totals).toMatchObject({ totalClicks: 41, next: true });
        await click();
        await expect.poll(next.totals).toMatchObject({ totalClicks: 42, next: true });
      });
      expect(await entry()).toMatchObject({
        active: { version: totalsOfNext.version },
        previous: { version: linkClicks.version, build: 0 },
      });
    });

    it("is continued by the older program in its own build, beside the newer one", async () => {
      await now.projecting(async () => {
        await next.projecting(async () => {
          await expect.poll(next.totals).toMatchObject({ totalClicks: 40, next: true });
          await click();
          await expect.poll(now.totals).toMatchObject({ totalClicks: 41 });
          expect(await now.totals()).not.toHaveProperty("next");
          await expect.poll(next.totals).toMatchObject({ totalClicks: 41, next: true });
        });
      });
    });

    it("is prepared beside the older program, and activated by the newer one's projector", async () => {
      const { builds } = await prepareBuilds(next.deps, projectionsOfNext);
      expect(builds).toMatchObject([
        { name: linkClicks.name, version: totalsOfNext.version, active: false, documents: 120 },
      ]);
      expect(await next.totals()).not.toHaveProperty("next");
      await click();
      await next.projecting(async (group) => {
        await expect.poll(next.totals).toMatchObject({ totalClicks: 41, next: true });
        const { processed } = (await group.status()).find(({ name: one }) => one === linkClicks.name) ?? {};
        expect(processed).toBe(1);
      });
      expect((await prepareBuilds(next.deps, projectionsOfNext)).builds).toEqual([]);
    });

    it("continues from its checkpoint after an interruption", async () => {
      expect(await interruptedAt(3)).toMatchObject({ complete: [], events: 300 });
      expect(await entry()).toMatchObject({ building: { by: "", progress: { events: 300 } } });
      const { signal } = new AbortController();
      const resumed = await foldBuilds(next.deps, projectionsOfNext, signal);
      expect(resumed).toMatchObject({ complete: [`link-clicks:${totalsOfNext.version}#1`], events: 500 });
      expect((await next.documentsAndParts(totalsOfNext)).map(withoutNext)).toEqual(
        (
          await now.documentsAndParts(
            allProjections.find(({ name: one }) => one === linkClicks.name) ?? totalsOfNext,
          )
        ).map(withoutNext),
      );
    });

    it("leaves no documents when its build is cancelled, also during a commit", async () => {
      await registerMissing(next.deps, projectionsOfNext, true);
      const deps = { ...next.deps, maxEvents: 100 };
      const cancelled: Promise<string[]>[] = [];
      const folded = await foldBuilds(
        {
          ...deps,
          readStore: committingStore(stores.readStore, async ({ changed }, write) => {
            // Simulates a process that was frozen during a commit and writes after the build was dropped.
            if (changed.some(isOfNext) && cancelled.length === 0) {
              cancelled.push(cancelBuilds(next.deps, projectionsOfNext));
              await cancelled[0];
            }
            await write();
          }),
        },
        projectionsOfNext,
        new AbortController().signal,
      );
      expect(await cancelled[0]).toEqual([`link-clicks:${totalsOfNext.version}#1`]);
      expect(folded.complete).toEqual([]);
      expect(await stores.readStore.count("link-clicks-next_b1", {})).toBe(0);
      expect(Object.keys(await stores.readStore.checkpoints()).filter((one) => one.includes("#"))).toEqual(
        [],
      );
      expect(await entry()).toEqual({
        active: { version: linkClicks.version, build: 0, collection: linkClicks.collection.name },
      });
      expect((await readBuilds(stores.readStore)).retired).toEqual({});
      expect(await next.totals()).toMatchObject({ totalClicks: 40 });
    });

    it("answers with the progress instead of data where its queries can't read the existing documents", async () => {
      const strict = projectionsOfNext.map((one) =>
        one === totalsOfNext ? { ...one, readsSince: totalsOfNext.version } : one,
      );
      const { totals } = programOn(stores, strict);
      await expect(totals()).rejects.toThrow(StoreUnavailable);
      await interruptedAt(3);
      await expect(totals()).rejects.toMatchObject({
        message: expect.stringMatching(/link-clicks.*\d+ %, 300 events/),
      });
    });
  });

  describe(`the first builds: ${name}`, () => {
    let stores: BuildsFixture;
    beforeEach(async () => {
      stores = await open();
    });
    afterEach(() => stores.cleanUp());

    it("are active immediately on an empty log", async () => {
      const program = programOn(stores);
      await program.register();
      expect(await program.totals()).toBeUndefined();
      await program.projecting(async () => {
        await append(stores.eventStore, CLICKS, [linkClicked({ link: LINK })]);
        await expect.poll(program.totals).toMatchObject({ totalClicks: 1 });
      });
    });

    it("give no answers before they are complete on a longer log, and can't be cancelled", async () => {
      await happenings(stores.eventStore);
      const program = programOn(stores);
      await program.register();
      await expect(program.totals()).rejects.toThrow(StoreUnavailable);
      await registerMissing(program.deps, allProjections, true);
      await expect(cancelBuilds(program.deps, allProjections)).rejects.toMatchObject({
        code: "nothing_else_answers",
      });
      const seen = new Set<number>();
      await program.projecting(async () => {
        const total = async () => (await program.totals().catch(() => undefined))?.totalClicks;
        const look = async () => {
          const clicks = await total();
          if (clicks !== undefined) seen.add(clicks);
          return clicks;
        };
        await expect.poll(look, { interval: 5 }).toBe(40);
      });
      expect([...seen]).toEqual([40]);
      expect(Object.keys(await stores.readStore.checkpoints())).toContain(checkpointName(linkClicks));
    });
  });
}

function isOfNext({ collection }: Commit["changed"][number]): boolean {
  return collection.startsWith(totalsOfNext.collection.name);
}

function withoutNext(document: Document): object {
  const { next: _, ...stored } = document as Document & { next?: boolean };
  return stored;
}
