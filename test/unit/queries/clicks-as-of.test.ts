// `as_of` of analytics: shown only while clicks wait to be counted for longer than usual.
import { afterEach, beforeEach, expect, it } from "vitest";
import { linkClicks } from "../../../src/projections/definitions/link-clicks.ts";
import { clickProjections } from "../../../src/projections/groups.ts";
import type { Projection } from "../../../src/projections/projection.ts";
import { ProjectionRunner } from "../../../src/projections/runner/runner.ts";
import { clicksAsOf } from "../../../src/queries/analytics/clicks-as-of.ts";
import { linkClicked } from "../../support/event-store/stored-events.ts";
import { append, openStores, type Stores } from "../../support/runtime/stores.ts";

let stores: Stores;
beforeEach(async () => {
  stores = await openStores();
});
afterEach(() => stores.close());

const secondsAfter = (time: string, seconds: number) => new Date(Date.parse(time) + seconds * 1_000);
const click = async () => {
  await append(stores.eventStore, "clicks-a-20260301", [linkClicked()]);
  const [last] = await stores.eventStore.read("clicks-a-20260301", { backwards: true, limit: 1 });
  return last?.recordedAt ?? "";
};
const fold = (projections: readonly Projection[] = clickProjections) => {
  const log = { info: () => undefined, warn: () => undefined, error: () => undefined };
  return new ProjectionRunner({ ...stores, projections, log }).catchUp();
};

it("is the time of the first click that is not counted, once it has waited for five seconds", async () => {
  const counted = clicksAsOf(stores);
  const asOf = async (now: Date) => (await counted(now)).asOf;
  expect(await asOf(new Date())).toBeUndefined();
  await click();
  await fold();
  const waiting = await click();
  await click();
  const [folded] = await stores.eventStore.readAll({ categories: ["clicks"], limit: 1 });
  expect(await counted(secondsAfter(waiting, 4))).toMatchObject({
    position: folded?.position,
    behindMs: 4_000,
  });
  expect(await asOf(secondsAfter(waiting, 5))).toBeUndefined();
  expect(await asOf(secondsAfter(waiting, 5.001))).toBe(waiting);
  await fold();
  expect(await counted(secondsAfter(waiting, 3_600))).toEqual({
    position: await stores.eventStore.head(),
    behindMs: 0,
    asOf: undefined,
  });
});

it("is that of the projection that is answered from, also while another one of clicks is behind", async () => {
  await click();
  await fold();
  const last = await click();
  await fold(clickProjections.filter(({ name }) => name === linkClicks.name));
  expect(await clicksAsOf(stores)(secondsAfter(last, 3_600))).toEqual({
    position: await stores.eventStore.head(),
    behindMs: 0,
    asOf: undefined,
  });
});
