// Projections of clicks say how withdrawn clicks go: a new one that forgot would count them for ever.
import { expect, it } from "vitest";
import { CATEGORY } from "../../../src/events/streams.ts";
import { clickHours } from "../../../src/projections/definitions/click-hours.ts";
import { allProjections } from "../../../src/projections/groups.ts";

const ofClicks = allProjections.filter(({ handles }) => handles.includes("LinkClicked"));

it("take withdrawn clicks out of all that counts, and leave where the log has clicks", () => {
  const counting = ofClicks.filter(({ recounts, withdraw }) => !recounts && !withdraw);
  expect(counting.map(({ name }) => name)).toEqual([clickHours.name]);
});

it("read withdrawals beside clicks", () => {
  for (const { categories } of ofClicks) expect(categories).toEqual([CATEGORY.clicks, CATEGORY.withdrawals]);
});
