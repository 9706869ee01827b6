// The numbers of a link's days within a range of time and up to a position: whole days as their documents hold them,
// parts of days from the log, by the same fold.
import { LRUCache } from "lru-cache";
import { reclassified } from "../../events/classification/reclassify.ts";
import { isWithdrawnBy } from "../../events/withdrawals.ts";
import { dateOf } from "../../projections/definitions/days/days.ts";
import {
  emptyDay,
  type LinkDay,
  type LinkDayDocument,
  withClick,
} from "../../projections/definitions/days/link-day.ts";
import { clicksBetween } from "../../projections/fold/clicks-between.ts";
import { withdrawalsOf } from "../../projections/fold/read-withdrawals.ts";
import { type EventStore, type Position, START } from "../../stores/event-store/port.ts";
import { firstCorrectionAfter, type LastClickRecordedBy } from "./log-positions.ts";
import { midnightOf, quartersIn } from "./sums.ts";
import { DAY_MS, QUARTER_MS } from "./time-zone.ts";

/**
 * The clicks of a UTC day (YYYY-MM-DD) that happened in [from, to), in milliseconds, and were recorded between the
 * positions of two events, both inclusive; `first`: "" for the start of the log. `rules`: under which clicks are classified
 * again, as those of the documents beside it are; undefined: as recorded.
 */
type DayPart = {
  day: string;
  from: number;
  to: number;
  first: Position;
  last: Position;
  rules?: string | undefined;
};

type DayNumbers = Pick<LinkDay, "quarters" | "kinds">;

/** Undefined for a part without clicks. */
type FoldedParts = (DayNumbers | undefined)[];

/** Reads of the log that may take long: they run in the reader thread. */
export type LogParts = {
  /** foldDayParts. */
  dayParts(link: string, parts: readonly DayPart[], asOf: Position): Promise<FoldedParts>;
  lastClickRecordedBy: LastClickRecordedBy;
};

/** [from, to) in milliseconds; `now`: no click is expected to have happened after it; `rules`: of the days (link-days.ts). */
type Cut = { from: number; to: number; now: number; asOf: Position; rules?: string | undefined };

/** As JSON a day whose tallies are full takes some 440 KB, and one of a few clicks 2 KB: 9 or some 2,500 of them. */
const KEPT_BYTES = 8 * 1024 * 1024;

/** Keeps parts that were read from the log, as charts are asked for again and again. @throws what the stores throw */
export function daysInRange(deps: { eventStore: Pick<EventStore, "read">; logParts: LogParts }) {
  /** JSON, as its size is known; null for a part without clicks. */
  const kept = new LRUCache<string, string>({
    maxSize: KEPT_BYTES,
    sizeCalculation: (json, key) => 2 * (json.length + key.length),
  });
  return async (
    link: string,
    days: readonly LinkDayDocument[],
    cut: Cut,
  ): Promise<{ day: string; numbers: DayNumbers }[]> => {
    const { asOf } = cut;
    const hasLater = days.some(({ _position }) => _position > asOf);
    const corrected = hasLater ? await firstCorrectionAfter(deps, link, asOf) : undefined;
    const found = new Map<string, DayNumbers>();
    const missing: { key: string; part: DayPart }[] = [];
    for (const document of days) {
      const part = partOf(document, cut, corrected);
      if (part === "all") found.set(dateOf(document), document);
      if (typeof part === "string") continue;
      // A correction of the day's clicks changes its position.
      const key = JSON.stringify([link, part, document._position, document._position > asOf && asOf]);
      const known = kept.get(key);
      const numbers: DayNumbers | null = known === undefined ? null : JSON.parse(known);
      if (numbers) found.set(part.day, numbers);
      if (known === undefined) missing.push({ key, part });
    }
    if (missing.length > 0) {
      const parts = missing.map(({ part }) => part);
      const folded = await deps.logParts.dayParts(link, parts, asOf);
      for (const [n, { key, part }] of missing.entries()) {
        const numbers = folded[n];
        kept.set(key, JSON.stringify(numbers ?? null));
        if (numbers) found.set(part.day, numbers);
      }
    }
    return days.map(dateOf).flatMap((day) => {
      const numbers = found.get(day);
      return numbers ? [{ day, numbers }] : [];
    });
  };
}

/**
 * What of a day is within the cut. `corrected`: the first correction after the cut's position; of a day that it may have
 * changed, the clicks that counted before are not known from the document.
 */
function partOf(
  document: LinkDayDocument,
  { from, to, now, asOf, rules }: Cut,
  corrected: Position | undefined,
): "all" | "none" | DayPart {
  const { _position, first, last, quarters } = document;
  const day = dateOf(document);
  const midnight = midnightOf(day);
  const cutOut = { day, from: Math.max(from, midnight), to: Math.min(to, midnight + DAY_MS), rules };
  if (corrected !== undefined && _position >= corrected) return { ...cutOut, first: "", last: asOf };
  if (first > asOf || quartersIn(document, { from, to }).length === 0) return "none";
  const isWhole = quarters.every(([quarter]) => {
    const start = midnight + quarter * QUARTER_MS;
    return start >= from && (start + QUARTER_MS <= to || (start < to && to >= now));
  });
  if (last <= asOf && isWhole) return "all";
  return { ...cutOut, first, last: last < asOf ? last : asOf };
}

/**
 * In the order of the parts. Clicks that are withdrawn as of `asOf` are left out. Parts whose clicks lie in the same part
 * of the log, such as the days of an import, are read in one pass. @throws what the store throws
 */
export async function foldDayParts(
  { eventStore }: { eventStore: Pick<EventStore, "read" | "readAll"> },
  link: string,
  parts: readonly DayPart[],
  asOf: Position,
): Promise<FoldedParts> {
  const isWithdrawn = isWithdrawnBy(await withdrawalsOf({ eventStore }, link, asOf));
  const folded = new Map<DayPart, LinkDay>();
  for (const { first, last, parts: together } of joined(parts)) {
    const range = first === "" ? { after: START, upTo: last } : { from: first, upTo: last };
    for await (const clicks of clicksBetween({ eventStore }, link, range))
      for (const click of clicks) {
        const { at } = click.data;
        const time = Date.parse(at);
        for (const part of together) {
          const isIn = part.day === at.slice(0, 10) && time >= part.from && time < part.to;
          if (!isIn || click.position < part.first || click.position > part.last) continue;
          if (isWithdrawn({ ...click.data, position: click.position })) continue;
          const counted = part.rules === undefined ? click : reclassified(click, part.rules);
          folded.set(part, withClick(folded.get(part) ?? emptyDay(), counted));
        }
      }
  }
  return parts.map((part) => {
    const day = folded.get(part);
    return day && { quarters: day.quarters, kinds: day.kinds };
  });
}

type Joined = { first: Position; last: Position; parts: DayPart[] };

/** Parts whose positions overlap, with the positions that they span together. */
function joined(parts: readonly DayPart[]): Joined[] {
  const groups: Joined[] = [];
  for (const part of parts.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    const { first, last } = part;
    const group = groups.at(-1);
    if (!group || first > group.last) groups.push({ first, last, parts: [part] });
    else {
      group.parts.push(part);
      if (last > group.last) group.last = last;
    }
  }
  return groups;
}
