// How many events of a backlog a group of projections keeps in memory until they are committed.
import { pino } from "pino";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { ProjectionGroup } from "../../../src/projections/builds/projection-group.ts";
import { projectionGroups } from "../../../src/projections/groups.ts";
import { ACCOUNT, linkCreated } from "../../support/event-store/stored-events.ts";
import { committingStore } from "../../support/projections/committing-store.ts";
import { append, openStores, type Stores } from "../../support/runtime/stores.ts";
import { until } from "../../support/runtime/until.ts";

const LINKS = 12_000;

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
});
