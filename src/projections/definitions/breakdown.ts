// Hits of one kind, broken down by where they came from and by what; of a day of a link, or of its whole life.
import type { LinkClicked } from "../../events/catalogue.ts";
import { UTM_FIELDS, type UtmField } from "../../events/vocabulary.ts";
import { DIMENSIONS, dimensionValues } from "./click-dimensions.ts";
import { ruleHit } from "./rule-hits.ts";
import { countAll, countOne, type Tally } from "./tally.ts";

/**
 * A tally for each of DIMENSIONS, in their order; `utm`: only fields with values; `rules`: of the hits of a
 * link with rules, by the rule that led them and where (rule-hits.ts).
 */
export type Breakdown = { tallies: Tally[]; utm?: { [F in UtmField]?: Tally }; rules?: Tally };

/** With the click, counted in place. */
export function countBreakdown(counted: Breakdown = emptyBreakdown(), click: LinkClicked["data"]): Breakdown {
  const values = dimensionValues(click);
  for (let n = 0; n < values.length; n++) countOne(counted.tallies[n] as Tally, values[n] as string);
  // The members that are there, as most clicks have few: asking for each of the five takes 0.2 µs longer.
  for (const field in click.utm) {
    const value = click.utm[field as UtmField];
    if (value) countOne(utmOf(counted, field as UtmField), value);
  }
  if (click.rule !== undefined) countOne(rulesOf(counted), ruleHit(click.rule, click.longUrl));
  return counted;
}

/** With another one added in place. */
export function addBreakdown(sum: Breakdown = emptyBreakdown(), added: Breakdown): Breakdown {
  for (const [n, tally] of sum.tallies.entries()) countAll(tally, added.tallies[n] ?? []);
  for (const field of UTM_FIELDS) {
    const values = added.utm?.[field];
    if (values) countAll(utmOf(sum, field), values);
  }
  if (added.rules) countAll(rulesOf(sum), added.rules);
  return sum;
}

export function emptyBreakdown(): Breakdown {
  return { tallies: DIMENSIONS.map(() => []) };
}

function utmOf(counted: Breakdown, field: UtmField): Tally {
  counted.utm ??= {};
  counted.utm[field] ??= [];
  return counted.utm[field];
}

function rulesOf(counted: Breakdown): Tally {
  counted.rules ??= [];
  return counted.rules;
}
