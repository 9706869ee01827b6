// What the operator does to projections: each act is an event first, and a running group follows it.
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { operatorStream } from "../../../src/events/streams.ts";
import { readBuilds } from "../../../src/projections/builds/builds-document.ts";
import { linkClicks } from "../../../src/projections/definitions/link-clicks.ts";
import {
  activateProjectionBuilds,
  cancelProjectionBuilds,
  requestRebuild,
  retryProjectionFaults,
  rollBackProjections,
} from "../../../src/projections/operations/operate.ts";
import type { Projection } from "../../../src/projections/projection.ts";
import { consoleRows } from "../../../src/queries/audit/projection-rows.ts";
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
  type Group = Parameters<Parameters<ReturnType<typeof programOn>["projecting"]>[0]>[0];
  const becomes = (group: Group, what: string, isSo: (status: object) => boolean) =>
    until(what, async () => isSo((await group.status())[0] ?? {}));

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
      expect(await rollBackProjections(deps, operator, [totals])).toMatchObject([{ build: 0, previous: 1 }]);
      expect((await program.totals())?.totalClicks).toBe(40);
    });
    const of = { projection: totals.name, version: totals.version };
    expect(await actions()).toMatchObject([
      { type: "ProjectionRebuildRequested", projections: [totals.name], activates: false },
      { type: "ProjectionBuildActivated", ...of, build: 1 },
      { type: "ProjectionRolledBack", ...of, build: 0, replacedBuild: 1 },
    ]);
  });

  it("cancels a build, and is told what can't be cancelled, activated, rolled back or retried", async () => {
    await happenings(stores.eventStore);
    const { program, deps, actions } = open();
    await program.adopt();
    await expect(activateProjectionBuilds(deps, operator, [totals])).rejects.toMatchObject({
      code: "nothing_to_activate",
    });
    await expect(rollBackProjections(deps, operator, [totals])).rejects.toMatchObject({
      code: "no_previous_build",
    });
    await program.projecting(async () => {
      await until("the first build", async () => (await building())?.active !== undefined);
      await expect(retryProjectionFaults(deps, operator, [totals])).rejects.toMatchObject({
        code: "not_faulted",
      });
    });
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

  it("lets a projection try the event again that it has stopped at, without a restart", async () => {
    isBroken = true;
    const { program, deps, actions } = open();
    await program.projecting(async (group) => {
      await happenings(stores.eventStore);
      await becomes(group, "a fault", (status) => "fault" in status && status.fault !== null);
      await retryProjectionFaults(deps, operator, [totals]);
      isBroken = false;
      await until("the count", async () => (await program.totals())?.totalClicks === 40);
      await becomes(group, "no fault", (status) => "fault" in status && status.fault === null);
    });
    expect(await actions()).toMatchObject([
      { type: "ProjectionFaultRetried", projection: totals.name, build: 0, stream: "clicks-a-20260301" },
    ]);
  });

  it("lets a build in the making go on that has stopped, beside the one that answers", async () => {
    await happenings(stores.eventStore);
    const { program, deps, actions } = open();
    await program.projecting(async () => {
      await until("the first build", async () => (await building())?.active !== undefined);
      isBroken = true;
      await requestRebuild(deps, operator, [totals], true);
      const faults = async () => {
        const rows = await consoleRows({ ...deps, foldStore: deps.readStore, clock: () => new Date() });
        return rows.projections.filter(({ name, fault }) => name === totals.name && fault !== null);
      };
      await until("a fault", async () => (await faults()).length === 1);
      expect(await faults()).toMatchObject([
        { state: "faulted", active: { build: 0 }, building: { build: 1 } },
      ]);
      expect((await program.totals())?.totalClicks).toBe(40);
      isBroken = false;
      await retryProjectionFaults(deps, operator, [totals]);
      await until("the switch", async () => (await building())?.active?.build === 1);
      expect((await program.totals())?.totalClicks).toBe(40);
    });
    expect((await actions()).at(-1)).toMatchObject({ type: "ProjectionFaultRetried", build: 1 });
  });
});
