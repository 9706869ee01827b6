// The answers of analytics, from the numbers of a link: the Analytics object (interface, part 2), and that of a range.
import type { z } from "zod";
import type { LinkRule } from "../../events/link-options.ts";
import type { LinkStatus } from "../../events/links/link-status.ts";
import { UTM_FIELDS } from "../../events/vocabulary.ts";
import type { ClickGap } from "../../projections/definitions/click-gaps.ts";
import { DIMENSION_NAMES, type Dimension } from "../../projections/definitions/summaries/breakdown.ts";
import type {
  Breakdowns,
  LinkNumbers,
  ListedValues,
  RuleHits,
} from "../../queries/analytics/link-numbers.ts";
import type { RangeRequest } from "../../queries/analytics/range.ts";
import { isoIn, UTC } from "../../queries/analytics/time-zone.ts";
import { OUTDATED_MS } from "../../queries/documents-behind.ts";
import type { AnalyticsSchema, RangeAnswer, RuleAnswer } from "./link-schema.ts";

type Counts = Record<string, number>;

/** Always present, even without hits (interface, part 2). */
const DEVICES_SHOWN: Readonly<Counts> = { mobile: 0, desktop: 0, tablet: 0 };

/** For a link's whole life. `as_of`: while a click has waited to be counted for more than five seconds, its time. */
export function analyticsAnswer(numbers: LinkNumbers, now: Date): z.input<typeof AnalyticsSchema> {
  const { link, series, recent, behindMs } = numbers;
  return {
    link: { id: link.slug, long_url: link.longUrl, created_at: link.createdAt },
    analytics: {
      ...numbersOf(numbers),
      hourlyClicks: Object.fromEntries(series.map(({ start, total }) => [isoIn(UTC, start), total])),
      recentClicks: recent,
    },
    ...(behindMs > OUTDATED_MS && { as_of: new Date(now.getTime() - behindMs).toISOString() }),
  };
}

export function rangeAnswer(
  numbers: LinkNumbers,
  { zone, kinds }: RangeRequest,
  status: LinkStatus,
): RangeAnswer {
  const [kind = null, ...others] = kinds;
  const { link, interval, series } = numbers;
  const iso = (instant: number) => isoIn(zone, instant);
  return {
    link: { id: link.slug, long_url: link.longUrl, created_at: link.createdAt, status },
    range: {
      from: iso(numbers.from),
      to: iso(numbers.to),
      interval,
      timezone: zone.name,
      kind: others.length > 0 ? null : kind,
    },
    analytics: {
      ...numbersOf(numbers),
      series: series.map(({ start, total, ...ofKinds }) => ({ start: iso(start), total, ...ofKinds })),
      dailyUniques: numbers.visitors,
    },
    ...gapsAnswer(numbers.gaps, iso),
    as_of_position: numbers.position,
    behind_ms: numbers.behindMs,
  };
}

/** `iso`: in the zone of the answer. */
export function gapsAnswer(
  gaps: readonly ClickGap[],
  iso: (instant: number) => string,
): { gaps?: ClickGap[] } {
  const inZone = (time: string) => iso(Date.parse(time));
  if (gaps.length === 0) return {};
  return { gaps: gaps.map(({ from, until, hits }) => ({ from: inZone(from), until: inZone(until), hits })) };
}

/** What both answers have. */
function numbersOf({ link, totals, breakdowns, utm, rules }: LinkNumbers) {
  const { values: listed } = rules;
  const others = othersOf({ breakdowns, utm, rules });
  const { total, ...eventTypes } = totals;
  const of = (name: Dimension) => counts(breakdowns[name].values);
  return {
    totalClicks: total,
    actualClicks: eventTypes.click,
    previews: eventTypes.preview,
    qrScans: eventTypes.qr_scan,
    eventTypes,
    ...(Object.fromEntries(DIMENSION_NAMES.map((name) => [name, of(name)])) as Record<Dimension, Counts>),
    devices: { ...DEVICES_SHOWN, ...of("devices") },
    utm: Object.fromEntries(UTM_FIELDS.map((field) => [field, counts(utm[field].values)])),
    ...(listed.length > 0 && { rules: listed.map((rule) => ruleAnswer(rule, link.rules)) }),
    ...(others.length > 0 && { other: Object.fromEntries(others) }),
  };
}

/** Hits of the values that a breakdown doesn't list, by its name. */
function othersOf({ breakdowns, utm, rules }: Breakdowns): [name: string, hits: number][] {
  const lists: [string, Pick<ListedValues, "other">][] = [
    ...DIMENSION_NAMES.map((name): [string, ListedValues] => [name, breakdowns[name]]),
    ...UTM_FIELDS.map((field): [string, ListedValues] => [`utm_${field}`, utm[field]]),
    ["rules", rules],
  ];
  return lists.flatMap(([name, { other }]): [string, number][] => (other > 0 ? [[name, other]] : []));
}

/** With the name that the rule has now. */
function ruleAnswer({ id, hits, destinations }: RuleHits, present: readonly LinkRule[] = []): RuleAnswer {
  const { name } = present.find((rule) => rule.id === id) ?? {};
  return { id, ...(name !== undefined && { name }), hits, destinations: counts(destinations) };
}

/** Without a prototype, because values come from strangers' requests and may be `__proto__`. */
function counts(values: ListedValues["values"]): Counts {
  const object: Counts = Object.create(null);
  for (const [value, count] of values) object[value] = count;
  return object;
}
