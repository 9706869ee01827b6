// Reads, cuts and joins batches of events in columns (port.ts) without an object for each event.
import { numberedIds } from "../runtime/time-ordered-id.ts";
import { isoTexts } from "./iso-texts.ts";
import { type MakerOf, objectMakers } from "./object-makers.ts";
import type { ColumnGroup, EventColumns, EventMetadata, NewEvent, NewEvents } from "./port.ts";

export function isColumns(events: NewEvents): events is EventColumns {
  return !Array.isArray(events);
}

export function countOf(events: NewEvents): number {
  return isColumns(events) ? events.times.length : events.length;
}

/** The ids of the events, in their order. */
export function idsOf(events: NewEvents): string[] {
  if (!isColumns(events)) return events.map(({ id }) => id);
  const idOf = numberedIds(events.writer);
  const numbers = sums(events.numbers);
  return timesOf(events).map((at, n) => idOf(at, numbers[n] as number));
}

/** Milliseconds since 1970 of each event. */
export function timesOf({ times }: EventColumns): number[] {
  return sums(times);
}

/**
 * A list of events, from either form. Events of columns share the objects of repeated values: don't mutate them.
 * `makerOf`: keep one for many batches, as it caches what it makes of the names of members.
 */
export function eventsOf(events: NewEvents, makerOf = objectMakers()): readonly NewEvent[] {
  return isColumns(events) ? eventsOfColumns(events, makerOf) : events;
}

function eventsOfColumns(columns: EventColumns, makerOf: MakerOf): NewEvent[] {
  const { type, schemaVersion, actor } = columns;
  const data = dataOf(columns, makerOf);
  return idsOf(columns).map((id, n) => {
    const metadata: EventMetadata = { schemaVersion, correlationId: id, causationId: id, actor };
    return { id, type, data: data[n], metadata };
  });
}

/** The data of each event. */
function dataOf(columns: EventColumns, makerOf: MakerOf): unknown[] {
  const make = makerOf(columns.members);
  const { members, timeMember, groups } = columns;
  const texts = isoTexts(timesOf(columns));
  const time = members.indexOf(timeMember);
  const places = groups.map((group) => group.members.map((name) => members.indexOf(name)));
  const values: unknown[] = members.map(() => null);
  return texts.map((text, n) => {
    values[time] = text;
    for (let g = 0; g < groups.length; g++) {
      const group = groups[g] as ColumnGroup;
      const at = places[g] as number[];
      const row = rowOf(group, n);
      for (let m = 0; m < at.length; m++) values[at[m] as number] = (group.values[m] as unknown[])[row];
    }
    return make(values);
  });
}

/** The row of event n. */
export function rowOf({ each, values }: ColumnGroup, n: number): number {
  if (each) return each[n] as number;
  return isShared(values) ? 0 : n;
}

/** The smallest and the greatest id in text order. */
export function idBoundsOf(events: NewEvents): [first: string, last: string] {
  if (!isColumns(events)) return idBounds(events.map(({ id }) => id));
  const { times, numbers, writer } = events;
  const isDescent = (difference: number, n: number) => n > 0 && difference < 0;
  if (times.some(isDescent) || numbers.some(isDescent)) return idBounds(idsOf(events));
  const idOf = numberedIds(writer);
  return [idOf(times[0] ?? 0, numbers[0] ?? 0), idOf(sumOf(times), sumOf(numbers))];
}

/** Smallest and greatest id in text order, to query an index by range. */
export function idBounds(ids: readonly string[]): [first: string, last: string] {
  let [first = "", last = ""] = [ids[0], ids[0]];
  for (const id of ids) {
    if (id < first) first = id;
    if (id > last) last = id;
  }
  return [first, last];
}

/** The events from index `start` on. */
export function laterEvents(events: NewEvents, start: number): NewEvents {
  if (!isColumns(events)) return events.slice(start);
  const { times, numbers, groups } = events;
  return {
    ...events,
    times: laterOf(times, start),
    numbers: laterOf(numbers, start),
    groups: groups.map((group) => laterRows(group, start)),
  };
}

function laterRows({ members, values, each }: ColumnGroup, start: number): ColumnGroup {
  if (each) return { members, values, each: each.slice(start) };
  return isShared(values) ? { members, values } : { members, values: values.map((one) => one.slice(start)) };
}

function laterOf(differences: readonly number[], start: number): number[] {
  return [sumOf(differences.slice(0, start + 1)), ...differences.slice(start + 1)];
}

/** Whether all events share the only row. */
function isShared(values: readonly unknown[][]): boolean {
  return values[0]?.length === 1;
}

function sumOf(differences: readonly number[]): number {
  return differences.reduce((sum, difference) => sum + difference, 0);
}

/** The values of a list of differences. */
function sums(differences: readonly number[]): number[] {
  let sum = 0;
  return differences.map((difference) => {
    sum += difference;
    return sum;
  });
}
