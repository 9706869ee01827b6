// Folds parts of a link's days from its clicks in the log, where a document has more than is asked for.
import { reclassified } from "../../../classification/reclassify.ts";
import { clicksBetween } from "../../../click-log/clicks-between.ts";
import { withdrawalsOf } from "../../../click-log/read-withdrawals.ts";
import { isWithdrawnBy } from "../../../click-log/withdrawals.ts";
import type { EventStore, Position } from "../../../event-store/port.ts";
import { emptyDay, type LinkDay, withClick } from "../../../projections/definitions/days/link-day.ts";

/**
 * The clicks of a UTC day (YYYY-MM-DD) that happened in [from, to), in milliseconds, and were recorded between the
 * positions of two events, both inclusive; `first`: "" for the start of the log. `rules`: under which clicks are classified
 * again, as those of the documents beside it are; undefined: as recorded.
 */
export type DayPart = {
  day: string;
  from: number;
  to: number;
  first: Position;
  last: Position;
  rules?: string | undefined;
};

export type DayNumbers = Pick<LinkDay, "quarters" | "kinds">;

/** Undefined for a part without clicks. */
export type FoldedParts = (DayNumbers | undefined)[];

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
    const range = first === "" ? { after: "", upTo: last } : { from: first, upTo: last };
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

/** Parts whose positions overlap, with the positions that they span together. */
function joined(parts: readonly DayPart[]): { first: Position; last: Position; parts: DayPart[] }[] {
  const groups: { first: Position; last: Position; parts: DayPart[] }[] = [];
  for (const part of parts.toSorted((a, b) => (a.first < b.first ? -1 : 1))) {
    const group = groups.at(-1);
    if (group && part.first <= group.last) {
      group.parts.push(part);
      if (part.last > group.last) group.last = part.last;
    } else groups.push({ first: part.first, last: part.last, parts: [part] });
  }
  return groups;
}
