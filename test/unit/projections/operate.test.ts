// What the operator does to projections: each act is an event first, and a running group follows it.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { operatorStream } from "../../../src/events/streams.ts";
import { readBuilds } from "../../../src/projections/builds/builds-document.ts";
import {
  activateProjectionBuilds,
  cancelProjectionBuilds,
  requestRebuild,
  requestRollback,
} from "../../../src/projections/builds/operate.ts";
import { linkClicks } from "../../../src/projections/definitions/link-clicks.ts";
import type { Projection } from "../../../src/projections/projection.ts";
import { projectionRows } from "../../../src/queries/audit/projection-rows.ts";
import { operator } from "../../support/commands/command-deps.ts";
import { happenings, programOn } from "../../support/projections/builds-of.ts";
import { openStores, type Stores } from "../../support/runtime/stores.ts";
import { until } from "../../support/runtime/until.ts";

let stores: Stores;
let isBroken = false;
const LINK_CLICKS = linkClicks as unknown as Projection;
const totals: Projection = {
  ...LINK_CLICKS,
  evolve(document, event) {
    if (isBroken) throw new Error("can't be counted");
    return LINK_CLICKS.evolve(document, event);
  },
};

beforeEach(async () => {
  isBroken = false;
  stores = await openStores();
});
afterEach(() => stores.close());

describe("the operator", () => {
  const open = () => {
    const program = programOn({ ...stores, cleanUp: stores.close }, [totals]);
    const { deps } = program;
    const actions = async () =>
      (await stores.eventStore.read(operatorStream(deps.clock()))).map(({ type, data, metadata }) => {
        expect(metadata).toMatchObject({ actor: { type: "operator" }, correlationId: "test-request" });
        return { ...(data as object), type };
      });
    return { program, deps, actions };
  };
  const building = async () => (await readBuilds(stores.readStore)).projections[totals.name];

  it("rebuilds beside what answers, lets the new build take over, and rolls back", async () => {
    await happenings(stores.eventStore);
    const { program, deps, actions } = open();
    await program.projecting(async () => {
      await until("the first build", async () => (await building())?.active !== undefined);
      await requestRebuild(deps, operator, [totals], false);
      await until("a build that waits", async () => (await building())?.building?.progress.done === 1);
      expect((await building())?.active?.build).toBe(0);
      await activateProjectionBuilds(deps, operator, [totals]);
      await until("the switch", async () => (await building())?.active?.build === 1);
      await requestRollback(deps, operator, [totals]);
      await until("the switch back", async () => (await building())?.active?.build === 0);
      expect((await building())?.previous?.build).toBe(1);
      expect((await program.totals())?.totalClicks).toBe(40);
    });
    const of = { projection: totals.name, version: totals.version };
    expect(await actions()).toMatchObject([
      { type: "ProjectionRebuildRequested", projections: [totals.name], activates: false },
      { type: "ProjectionBuildActivated", ...of, build: 1 },
      { type: "ProjectionRolledBack", ...of, build: 0, replacedBuild: 1 },
    ]);
  });

  it("cancels a build, and is told what can't be cancelled, activated or rolled back", async () => {
    await happenings(stores.eventStore);
    const { program, deps, actions } = open();
    await program.register();
    await expect(activateProjectionBuilds(deps, operator, [totals])).rejects.toMatchObject({
      code: "nothing_to_activate",
    });
    await expect(requestRollback(deps, operator, [totals])).rejects.toMatchObject({
      code: "no_previous_build",
    });
    await program.projecting(
      async () => await until("the first build", async () => (await building())?.active !== undefined),
    );
    expect(await actions()).toEqual([]);
    await requestRebuild(deps, operator, [totals], true);
    expect(await cancelProjectionBuilds(deps, operator, [totals])).toEqual([
      `${totals.name}:${totals.version}#1`,
    ]);
    expect(await cancelProjectionBuilds(deps, operator, [totals])).toEqual([]);
    expect((await actions()).map(({ type }) => type)).toEqual([
      "ProjectionRebuildRequested",
      "ProjectionBuildCancelled",
    ]);
  });

  it("has what was set aside folded by a rebuild, after the program was mended", async () => {
    isBroken = true;
    const { program, deps } = open();
    await program.projecting(async (group) => {
      await happenings(stores.eventStore);
      const setAside = async () => {
        const rows = await projectionRows({ ...deps, foldStore: deps.readStore, clock: () => new Date() });
        return rows.projections.find(({ name }) => name === totals.name)?.set_aside.count;
      };
      await until("the events to be set aside", async () => (await setAside()) === 800);
      expect((await group.status())[0]).toMatchObject({ answers: "this", behind: false, lagMs: 0 });
      expect(await program.totals()).toBeUndefined();
      isBroken = false;
      await requestRebuild(deps, operator, [totals], true);
      await until("the switch", async () => (await building())?.active?.build === 1);
      expect((await program.totals())?.totalClicks).toBe(40);
      expect(await setAside()).toBe(0);
    });
  });
});
