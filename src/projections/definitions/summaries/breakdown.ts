// Hits of one kind, broken down by where they came from and by what; of a day, or of a link's whole life.
import { UTM_FIELDS, type UtmField } from "../../../events/vocabulary.ts";
import { addTallies, type Tally } from "./tally.ts";

/** Dimensions in which every hit counts, as `unknown` where it has no value, so that each sums to the number of hits. */
export const DIMENSIONS = ["devices", "countries", "cities", "browsers", "os", "referrers"] as const;
export type Dimension = (typeof DIMENSIONS)[number];

/**
 * A tally for each of DIMENSIONS, in their order; `utm`: only fields with values; `rules`: of the hits of a
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
    tallies: DIMENSIONS.map((_, n) => addTallies(sum.tallies[n] ?? [], added.tallies[n] ?? [])),
    ...(Object.keys(utm).length > 0 && { utm }),
    ...(rules.length > 0 && { rules }),
  };
}
