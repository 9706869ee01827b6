// How the breakdowns of several days are added up.
import { expect, it } from "vitest";
import { DIMENSIONS } from "../../../../src/projections/definitions/click-dimensions.ts";
import { OTHER, type Tally } from "../../../../src/projections/definitions/tally.ts";
import { breakdownSum } from "../../../../src/queries/analytics/sums.ts";

const [FIRST] = DIMENSIONS;

/** Of days with these values of the first dimension. */
function sumOf(...days: Tally[]) {
  const sum = breakdownSum();
  for (const day of days)
    sum.add({ tallies: DIMENSIONS.map((dimension) => (dimension === FIRST ? day : [])) });
  return sum.result().breakdowns[FIRST];
}

it("shows values by their hits, those of the others together and last, however many these are", () => {
  expect(sumOf(["b", 2, OTHER, 9], ["a", 1, "b", 1, "other", 2, OTHER, 4])).toEqual([
    ["b", 3],
    ["other", 2],
    ["a", 1],
    [OTHER, 13],
  ]);
});

it("shows 200 values, and loses no hit of the rest", () => {
  const values = Array.from({ length: 250 }, (_, n) => [`v${String(n).padStart(3, "0")}`, 2]).flat();
  const shown = sumOf(values.slice(0, 300), values.slice(300), [OTHER, 7]);
  expect(shown).toHaveLength(201);
  expect(shown.at(-1)).toEqual([OTHER, 50 * 2 + 7]);
  expect(shown[0]).toEqual(["v000", 2]);
});
