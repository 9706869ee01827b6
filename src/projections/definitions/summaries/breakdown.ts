// Hits of one kind, broken down by where they came from and by what; of a day, or of a link's whole life.
import { UTM_FIELDS, type UtmField } from "../../../events/vocabulary.ts";
import type { ColumnName } from "../click-tables/columns.ts";
import { addTallies, type Tally } from "./tally.ts";

/**
 * Dimensions in which every hit counts, as `unknown` where it has no value, so that each sums to the number of hits; with the
 * columns of their values.
 */
export const DIMENSIONS = {
  devices: "device",
  countries: "country",
  cities: "city",
  browsers: "browser",
  os: "os",
  referrers: "referrer",
} as const satisfies Record<string, ColumnName>;
export type Dimension = keyof typeof DIMENSIONS;
/** In the order in which a breakdown has them. */
export const DIMENSION_NAMES = Object.keys(DIMENSIONS) as Dimension[];

/**
 * A tally for each of DIMENSION_NAMES, in their order; `utm`: only fields with values; `rules`: of the hits of a
 * link with rules, by the rule that led them and where (rule-hits.ts).
 */
export type Breakdown = { tallies: Tally[]; utm?: { [F in UtmField]?: Tally }; rules?: Tally };

/** The sum of both. */
export function addBreakdowns(sum: Breakdown | undefined, added: Breakdown): Breakdown {
  if (!sum) return added;
  const utm: Breakdown["utm"] = {};
  for (const field of UTM_FIELDS) {
    const tally = addTallies(sum.utm?.[field] ?? [], added.utm?.[field] ?? []);
    if (tally.length > 0) utm[field] = tally;
  }
  const rules = addTallies(sum.rules ?? [], added.rules ?? []);
  return {
    tallies: DIMENSION_NAMES.map((_, n) => addTallies(sum.tallies[n] ?? [], added.tallies[n] ?? [])),
    ...(Object.keys(utm).length > 0 && { utm }),
    ...(rules.length > 0 && { rules }),
  };
}
