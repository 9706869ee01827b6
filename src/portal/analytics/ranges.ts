// The time range of a chart, chosen by links so that it works without scripts; more than 24 hours needs the Developer
// tier.
import { z } from "zod";
import { TIER_LIMITS, type Tier } from "../../events/vocabulary.ts";
import { RANGES, type Range } from "../../queries/analytics/time-series.ts";
import { type Html, html } from "../shell/html.ts";
import { icon } from "../shell/icons.ts";

const NAMES: Readonly<Record<Range, string>> = {
  "24h": "24 hours",
  "7d": "7 days",
  "30d": "30 days",
  "12mo": "12 months",
};

const BASIC: Range = "24h";
const USUAL: Range = "7d";

/** Unknown values are ignored. */
export const RangeQuery = z.object({ range: z.enum(RANGES).optional().catch(undefined) });

export function rangeName(range: Range): string {
  return NAMES[range];
}

/** The requested range if the tier allows it, else the default. */
export function rangeFor(tier: Tier, requested: Range | undefined): Range {
  return TIER_LIMITS[tier].developerFeatures ? (requested ?? USUAL) : BASIC;
}

export function rangePicker(path: string, current: Range, tier: Tier): Html {
  const all = TIER_LIMITS[tier].developerFeatures;
  return html`<nav class="choices" aria-label="Time shown">${RANGES.map((range) => {
    if (range === current)
      return html`<a href="${path}?range=${range}" aria-current="true">${NAMES[range]}</a>`;
    if (all) return html`<a href="${path}?range=${range}">${NAMES[range]}</a>`;
    return html`<a class="locked" href="/portal/plan" title="With the Developer plan">${NAMES[range]}${icon("star")}<span class="visually-hidden"> (Developer plan)</span></a>`;
  })}</nav>`;
}
