// Counts a whole closed day from its summary, where that has what is asked: as its table would, but that values which a bounded
// list has cut are told as CUT.
import { CLICK_KINDS, type ClickKind, UTM_FIELDS } from "../../../events/vocabulary.ts";
import { DIMENSIONS, type Dimension } from "../../../projections/definitions/summaries/breakdown.ts";
import {
  type DaySummary,
  hitsOfKind,
  type KindOfDay,
} from "../../../projections/definitions/summaries/day.ts";
import type { LinkLifeDocument } from "../../../projections/definitions/summaries/link-life.ts";
import { type Tally, valueCounts } from "../../../projections/definitions/summaries/tally.ts";
import { countVisitors } from "../../../projections/definitions/summaries/visitors.ts";
import { QUARTER_MS } from "../time-zone.ts";
import {
  type Counted,
  type CountedBy,
  type Counting,
  type DayCounts,
  knownVisitors,
  placeOf,
} from "./count-rows.ts";
import { midnightOf, noHits, nothing } from "./sum-days.ts";

/** The fields of the dimensions. */
export const DIMENSION_FIELDS = {
  devices: "device",
  countries: "country",
  cities: "city",
  browsers: "browser",
  os: "os",
  referrers: "referrer",
} as const satisfies Record<Dimension, CountedBy>;

/** The tally of a field; undefined for a field that has none. */
export function tallyOf(field: CountedBy): ((counted: Partial<KindOfDay>) => Tally | undefined) | undefined {
  const place = DIMENSIONS.findIndex((name) => DIMENSION_FIELDS[name] === field);
  if (place !== -1) return ({ tallies }) => tallies?.[place];
  const utm = UTM_FIELDS.find((name) => field === `utm_${name}`);
  if (utm) return (counted) => counted.utm?.[utm];
  if (field === "destination") return ({ rules }) => rules;
  if (field === "region") return ({ regions }) => regions;
  return field === "language" ? ({ languages }) => languages : undefined;
}

/** Hits by values and of points; visitors of the whole day alone. `starts`: of points, each at the start of a quarter-hour. */
export function countSummary(
  day: string,
  summary: Pick<DaySummary, "quarters" | "kinds"> | undefined,
  asked: Pick<Counting, "kinds" | "visitorKinds" | "starts" | "groupBy">,
): DayCounts {
  const counts: DayCounts = { day, total: nothing(), points: new Map(), groups: new Map() };
  const { total, points, groups } = counts;
  for (const field of asked.groupBy) groups.set(field, new Map());
  if (!summary) return counts;
  for (const kind of asked.kinds) {
    const hits = hitsOfKind(summary, kind);
    total[kind] = hits;
    const column = (CLICK_KINDS.indexOf(kind) + 1) as 1 | 2 | 3;
    if (asked.starts.length > 0)
      for (const quarter of summary.quarters) {
        if (quarter[column] === 0) continue;
        const place = placeOf(asked.starts, midnightOf(day) + quarter[0] * QUARTER_MS);
        rowOf(points, place)[kind] += quarter[column];
      }
    addTallies(groups, kind, summary.kinds[kind]);
  }
  const kinds = asked.visitorKinds.filter((kind) => asked.kinds.includes(kind));
  const texts = kinds.flatMap((kind) => summary.kinds[kind]?.visitors ?? []);
  const hits = kinds.reduce((sum, kind) => sum + total[kind], 0);
  const { visitors, estimated } = countVisitors(texts, hits);
  Object.assign(total, { visitors: knownVisitors(visitors, hits), estimated });
  return counts;
}

/** What is summed of a link's closed days together. */
export function countLife(life: LinkLifeDocument, groupBy: readonly CountedBy[]): DayCounts {
  const total = { ...nothing(), click: life.click, preview: life.preview, qr_scan: life.qr_scan };
  const groups: DayCounts["groups"] = new Map(groupBy.map((field) => [field, new Map()]));
  for (const kind of CLICK_KINDS) addTallies(groups, kind, life.kinds[kind]);
  return { day: life.lastDay, total, points: new Map(), groups };
}

/** Of fields that the breakdown has. */
function addTallies(
  groups: DayCounts["groups"],
  kind: ClickKind,
  counted: Partial<KindOfDay> | undefined,
): void {
  if (!counted) return;
  for (const [field, rows] of groups)
    for (const [value, count] of valueCounts(tallyOf(field)?.(counted) ?? []))
      rowOf(rows, value)[kind] += count;
}

function rowOf<K>(rows: Map<K, Counted>, key: K): Counted {
  let row = rows.get(key);
  if (!row) {
    row = { ...noHits(), visitors: 0, estimated: false };
    rows.set(key, row);
  }
  return row;
}
