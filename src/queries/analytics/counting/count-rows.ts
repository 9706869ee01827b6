// Counts the rows of one UTC day that fit a question: by kind, by the points of its series and by the values of its groups,
// with the people who made them. Days are added up (sum-days.ts): nobody is known again on another.
import type { ClickKind } from "../../../events/vocabulary.ts";
import {
  COUNTS,
  type Counts,
  columnNumbers,
  countNumbers,
  type InSteps,
  type RowsByVisitor,
  type RowsOfChunk,
  rowsByVisitor,
  textNumbers,
  timeNumbers,
} from "../../../projections/definitions/click-tables/rows-by-visitor.ts";
import type { ChunkRows } from "../../../projections/definitions/click-tables/table.ts";
import { ruleHit } from "../../../projections/definitions/rule-hits.ts";
import type { ValueCounts } from "../../../projections/definitions/summaries/account-day.ts";
import { valueCounts } from "../../../projections/definitions/summaries/sum-account.ts";
import type { TimeSlices } from "../../../runtime/threads/time-slices.ts";
import type { Position } from "../../../stores/event-store/port.ts";
import type { Filters, GroupBy, Period } from "../question.ts";
import type { TimeZone } from "../time-zone.ts";
import { columnOf, isLocal, localValues, type TagsOf, valuesOf } from "./group-values.ts";
import { type RowFilter, selectRows } from "./select-rows.ts";

export type KindCounts = Record<ClickKind, number>;

/** `visitors`: who made the hits of some kinds, on one day. */
export type Counted = KindCounts & { visitors: number };

/** `points`: by the index of the start. Only what has hits. */
export type DayCounts = {
  day: string;
  total: Counted;
  points: Map<number, Counted>;
  groups: Map<CountedBy, ValueCounts>;
};

/** `destination`: by the rule that led there, and where (ruleHit). */
export type CountedBy = GroupBy | "destination";

/**
 * `starts`: of the points of a series; none where only totals are asked. `limit`: rows of a group. `hitsOnly`: nobody asks for the
 * visitors of points and of values. `visitorKinds`: of the hits whose visitors are counted.
 */
export type Counting = {
  accountId: string;
  filters: Filters;
  kinds: readonly ClickKind[];
  zone: TimeZone;
  starts: readonly number[];
  groupBy: readonly CountedBy[];
  limit: number;
  asOf: Position;
  hitsOnly: boolean;
  visitorKinds: readonly ClickKind[];
};

/** Of one UTC day: `from` and `to` cut it where they are finite; `starts` are those of the day, by whose indexes points are told. */
export type DayQuestion = Counting & Period;

type RowQuestion = RowFilter & Pick<Counting, "groupBy" | "starts" | "visitorKinds">;

/** `tables`: of the day. The thread takes its messages meanwhile. @throws the reason of the slices' signal */
export async function countRows(
  day: string,
  tables: readonly ChunkRows[],
  question: RowQuestion,
  tagsOf: TagsOf,
  slices: TimeSlices,
): Promise<DayCounts> {
  const { starts, groupBy, visitorKinds, zone } = question;
  const parts: RowsOfChunk[] = [];
  for (const table of tables) {
    await slices.next();
    const rows = selectRows(table, question, tagsOf);
    if (rows.length > 0) parts.push({ chunk: table.chunk, rows });
  }
  const inSlices = async <T>(work: InSteps<T>): Promise<T> => {
    for (let step = work.next(); ; step = work.next()) {
      if (step.done) return step.value;
      await slices.next();
    }
  };
  const rows = await inSlices(rowsByVisitor(parts));
  const [total] = counted(await inSlices(countNumbers(rows, [new Int32Array(rows.count)], 1, visitorKinds)));
  const points = new Map(
    counted(await inSlices(countPoints(rows, starts, visitorKinds))).flatMap(
      (point, n): [number, Counted][] => (hitsIn(point) > 0 ? [[n, point]] : []),
    ),
  );
  const groups: DayCounts["groups"] = new Map();
  for (const field of groupBy) {
    const { values, lists } = await inSlices(numbersOf(rows.parts, field, zone, tagsOf));
    const counts = await inSlices(countNumbers(rows, lists, values.length, visitorKinds));
    groups.set(field, valueCounts(values, counts));
  }
  return { day, total: total as Counted, points, groups };
}

function counted(counts: Counts): Counted[] {
  return Array.from({ length: counts.length / COUNTS }, (_, n) => {
    const [click = 0, preview = 0, qr_scan = 0, visitors = 0] = counts.subarray(n * COUNTS, (n + 1) * COUNTS);
    return { click, preview, qr_scan, visitors };
  });
}

function* countPoints(
  rows: RowsByVisitor,
  starts: readonly number[],
  counted: readonly ClickKind[],
): InSteps<Counts> {
  let [place, from, to] = [0, 0, 0];
  const placeAt = (at: number) => {
    if (at >= from && at < to) return place;
    place = placeOf(starts, at);
    [from, to] = [starts[place] as number, starts[place + 1] ?? Number.POSITIVE_INFINITY];
    return place;
  };
  const lists = starts.length > 0 ? [yield* timeNumbers(rows.parts, placeAt)] : [];
  return yield* countNumbers(rows, lists, starts.length, counted);
}

/** The last point that starts at or before the instant; the first one for an instant before it. */
export function placeOf(starts: readonly number[], instant: number): number {
  let [low, high] = [0, starts.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] as number) <= instant) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** The values of a field by their numbers, and those of each row. */
function* numbersOf(
  parts: readonly RowsOfChunk[],
  field: CountedBy,
  zone: TimeZone,
  tagsOf: TagsOf,
): InSteps<{ values: readonly string[]; lists: Int32Array[] }> {
  const isColumn = field !== "destination" && columnOf(field) === field;
  const { values, numberOf } = textNumbers(!isColumn || parts.length > 1);
  if (field === "destination") return { values, lists: [yield* destinations(parts, numberOf)] };
  if (isLocal(field)) {
    const valueAt = localValues(field, zone);
    let [value, number] = ["", -1];
    const numberAt = (at: number) => {
      const next = valueAt(at);
      if (next !== value) [value, number] = [next, numberOf(next)];
      return number;
    };
    return { values, lists: [yield* timeNumbers(parts, numberAt)] };
  }
  const column = columnOf(field) ?? "link";
  if (field !== "tag") {
    const numberOfText = (text: string) => numberOf(valuesOf(field, text, tagsOf)[0] ?? "");
    return { values, lists: [yield* columnNumbers(parts, column, isColumn ? numberOf : numberOfText)] };
  }
  // Each tag of a link once.
  const tags = textNumbers();
  const ofLinks = yield* columnNumbers(parts, column, tags.numberOf);
  const numbers = tags.values.map((link) => [...new Set(tagsOf(link))].map(numberOf));
  const most = Math.max(0, ...numbers.map(({ length }) => length));
  const lists = Array.from({ length: most }, (_, nth) => {
    const nths = Int32Array.from(numbers, (all) => all[nth] ?? -1);
    return ofLinks.map((link) => nths[link] as number);
  });
  return { values, lists };
}

/** Of rows that were led by a rule, or by none of a link's rules. */
function* destinations(
  parts: readonly RowsOfChunk[],
  numberOf: (value: string) => number,
): InSteps<Int32Array> {
  const rules = textNumbers();
  const urls = textNumbers();
  const ruleOf = yield* columnNumbers(parts, "rule", rules.numberOf);
  const urlOf = yield* columnNumbers(parts, "destination", urls.numberOf);
  const known = new Map<number, number>();
  return ruleOf.map((rule, row) => {
    if (rule < 0) return -1;
    const url = urlOf[row] as number;
    const pair = rule * (urls.values.length + 1) + url;
    let number = known.get(pair);
    if (number === undefined) {
      number = numberOf(ruleHit(rules.values[rule] as string, urls.values[url] ?? ""));
      known.set(pair, number);
    }
    return number;
  });
}

export function hitsIn({ click, preview, qr_scan }: KindCounts): number {
  return click + preview + qr_scan;
}
