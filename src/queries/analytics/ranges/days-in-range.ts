// The numbers of a link's days within a range of time and up to a position: whole days as their documents hold them,
// parts of days from the log.
import { LRUCache } from "lru-cache";
import type { EventStore, Position } from "../../../event-store/port.ts";
import { dateOf } from "../../../projections/definitions/days/days.ts";
import type { LinkDayDocument } from "../../../projections/definitions/days/link-day.ts";
import { firstCorrectionAfter, type LastClickRecordedBy } from "./as-of.ts";
import type { DayNumbers, DayPart, FoldedParts } from "./day-parts.ts";
import { DAY_MS, QUARTER_MS } from "./time-zone.ts";

/** Reads of the log that may take long: they run in the thread of log-reader/. */
export type LogParts = {
  /** foldDayParts. */
  dayParts(link: string, parts: readonly DayPart[], asOf: Position): Promise<FoldedParts>;
  lastClickRecordedBy: LastClickRecordedBy;
};

/** [from, to) in milliseconds; `now`: no click is expected to have happened after it; `rules`: of the days (read-days.ts). */
export type Cut = { from: number; to: number; now: number; asOf: Position; rules?: string | undefined };

export type DayInRange = { day: string; numbers: DayNumbers };

/** Called before the log is read, which costs more than all else; rejects to refuse it. */
export type BeforeLogRead = () => Promise<void>;

export type DaysInRange = (
  link: string,
  days: readonly LinkDayDocument[],
  cut: Cut,
  beforeLogRead?: BeforeLogRead,
) => Promise<DayInRange[]>;

/** As JSON a day whose tallies are full takes some 440 KB, and one of a few clicks 2 KB: 9 or some 2,500 of them. */
const KEPT_BYTES = 8 * 1024 * 1024;

/** Keeps parts that were read from the log, as charts are asked for again and again. @throws what the stores throw */
export function daysInRange(deps: { eventStore: Pick<EventStore, "read">; logParts: LogParts }): DaysInRange {
  /** JSON, as its size is known; null for a part without clicks. */
  const kept = new LRUCache<string, string>({
    maxSize: KEPT_BYTES,
    sizeCalculation: (json, key) => 2 * (json.length + key.length),
  });
  return async (link, days, cut, beforeLogRead) => {
    const { asOf } = cut;
    const hasLater = days.some(({ _position }) => _position > asOf);
    const corrected = hasLater ? await firstCorrectionAfter(deps, link, asOf) : undefined;
    const found = new Map<string, DayNumbers | undefined>();
    const missing: { key: string; part: DayPart }[] = [];
    for (const document of days) {
      const part = partOf(document, cut, corrected);
      const day = dateOf(document);
      if (part === "all") found.set(day, document);
      if (typeof part === "string") continue;
      // A correction of the day's clicks changes its position.
      const key = JSON.stringify([link, part, document._position, document._position > asOf && asOf]);
      const known = kept.get(key);
      if (known !== undefined) found.set(day, JSON.parse(known) ?? undefined);
      else missing.push({ key, part });
    }
    if (missing.length > 0) {
      await beforeLogRead?.();
      const parts = missing.map(({ part }) => part);
      const folded = await deps.logParts.dayParts(link, parts, asOf);
      for (const [n, { key, part }] of missing.entries()) {
        kept.set(key, JSON.stringify(folded[n] ?? null));
        found.set(part.day, folded[n]);
      }
    }
    return days.flatMap((document) => {
      const day = dateOf(document);
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
  const midnight = Date.parse(`${day}T00:00:00.000Z`);
  const cutOut = { day, from: Math.max(from, midnight), to: Math.min(to, midnight + DAY_MS), rules };
  if (corrected !== undefined && _position >= corrected) return { ...cutOut, first: "", last: asOf };
  if (first > asOf) return "none";
  const starts = quarters.map(([quarter]) => midnight + quarter * QUARTER_MS);
  if (starts.every((start) => start + QUARTER_MS <= from || start >= to)) return "none";
  const isIn = (start: number) => start >= from && (start + QUARTER_MS <= to || (start < to && to >= now));
  if (last <= asOf && starts.every(isIn)) return "all";
  return { ...cutOut, first, last: last < asOf ? last : asOf };
}
