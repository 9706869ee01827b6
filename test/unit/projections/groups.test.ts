// A group of projections: how many events of a backlog it holds until they are committed, and which builds it folds.
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { queriedBuild } from "../../../src/projections/builds/build.ts";
import { readBuilds } from "../../../src/projections/builds/builds-document.ts";
import { rebuild } from "../../../src/projections/builds/finish-builds.ts";
import { foldBuilds } from "../../../src/projections/builds/fold-builds.ts";
import { ProjectionGroup } from "../../../src/projections/builds/projection-group.ts";
import { registerRebuild } from "../../../src/projections/builds/register-builds.ts";
import { accountDays, type DayDocument, hitsOf } from "../../../src/projections/definitions/days/days.ts";
import { clickProjections, projectionGroups } from "../../../src/projections/groups.ts";
import type { Projection } from "../../../src/projections/projection.ts";
import { ACCOUNT, linkClicked, linkCreated } from "../../support/event-store/stored-events.ts";
import { CLICKS, happenings, LINK, programOn, totalsOfNow } from "../../support/projections/builds-of.ts";
import { committingStore } from "../../support/projections/committing-store.ts";
import { storeWith } from "../../support/runtime/store-with.ts";
import { append, openStores, type Stores } from "../../support/runtime/stores.ts";
import { until } from "../../support/runtime/until.ts";

const LINKS = 12_000;
const SOON = { timeout: 10_000 };

describe("a group of projections", () => {
  let stores: Stores;
  beforeEach(async () => {
    stores = await openStores();
  });
  afterEach(async () => await stores.close());

  it.each(["links", "event-index"])("commits a backlog of %s 5,000 events at a time", async (collection) => {
    /** Documents up to each commit that moves checkpoints. */
    const sizes: number[] = [];
    let written = 0;
    const readStore = committingStore(stores.readStore, async ({ changed, checkpoints }, write) => {
      const own = changed.filter((one) => one.collection === collection);
      written += own.reduce((sum, { documents }) => sum + documents.length, 0);
      await write();
      if (Object.keys(checkpoints).length === 0) return;
      sizes.push(written);
      written = 0;
    });
    const spec = projectionGroups.find((group) => group.name === "lifecycle");
    if (!spec) throw new Error("no group lifecycle");
    const log = pino({ level: "silent" });
    const { projections, ...commit } = spec;
    const { eventStore } = stores;
    const group = new ProjectionGroup({ ...runtimeDeps, eventStore, readStore, projections, log, ...commit });
    const stopping = new AbortController();
    const building = group.build(stopping.signal);
    await until("the first builds", async () =>
      (await group.status()).every(({ answers }) => answers === "this"),
    );
    const created = Array.from({ length: LINKS }, (_, n) =>
      linkCreated({ slug: `l${n}`, accountId: ACCOUNT }),
    );
    await append(eventStore, "link-sho.rt/l", created);
    const running = group.run(stopping.signal);
    await until("the backlog", () => sizes.reduce((sum, size) => sum + size, 0) === LINKS);
    stopping.abort();
    await Promise.all([building, running]);
    expect(Math.max(...sizes)).toBe(5_000);
  });

  it("keeps a build up to date that has taken over while it folds another one", async () => {
    const program = programOn({ ...stores, cleanUp: stores.close }, clickProjections);
    await program.register();
    await happenings(stores.eventStore);
    const gate = Promise.withResolvers<void>();
    let isHeldUp = false;
    const eventStore = storeWith(stores.eventStore, {
      async readAll(options) {
        // Status and freshness look for one event; a build reads pages.
        if (options.limit > 1) {
          isHeldUp = true;
          await gate.promise;
        }
        return await stores.eventStore.readAll(options);
      },
    });
    const group = new ProjectionGroup({ ...program.deps, eventStore, projections: clickProjections });
    const stopping = new AbortController();
    const running = [group.build(stopping.signal), group.run(stopping.signal)];
    const totals = async () => {
      const build = queriedBuild(accountDays, await readBuilds(stores.readStore));
      const days = await stores.readStore.find<DayDocument>(build?.collection.name ?? "", { limit: 100 });
      return { build: build?.build, hits: days.reduce((sum, day) => sum + hitsOf(day), 0) };
    };
    await expect.poll(totals, SOON).toEqual({ build: 0, hits: 800 });
    await registerRebuild(program.deps, [totalsOfNow]);
    await until("the long build", () => isHeldUp);
    await rebuild(program.deps, [accountDays as unknown as Projection]);
    await append(stores.eventStore, CLICKS, [linkClicked({ link: LINK })]);
    await expect.poll(totals, SOON).toEqual({ build: 2, hits: 801 });
    gate.resolve();
    stopping.abort();
    await Promise.all(running);
  });

  it("resumes a build that is to wait when it was stopped between its last page and the commit", async () => {
    const program = programOn({ ...stores, cleanUp: stores.close }, clickProjections);
    await program.register();
    await happenings(stores.eventStore);
    await program.catchUp();
    await registerRebuild(program.deps, [totalsOfNow], false);
    const stopping = new AbortController();
    await foldBuilds(program.deps, [totalsOfNow], stopping.signal, () => stopping.abort());
    const building = async () => (await readBuilds(stores.readStore)).projections[totalsOfNow.name]?.building;
    expect(await building()).toMatchObject({ by: "", progress: { events: 800 } });
    const documents = async () => stores.readStore.count((await building())?.collection ?? "", {});
    await program.projecting(() => expect.poll(documents, SOON).toBe(20));
  });
});
