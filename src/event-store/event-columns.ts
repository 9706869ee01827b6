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

/** Gets the members of one event. */
export type EventVisitor = (id: string, type: string, data: unknown, metadata: EventMetadata) => void;

/** A list of events, from either form. Events of columns share the objects of repeated values: don't mutate them. */
export function eventsOf(events: NewEvents): readonly NewEvent[] {
  if (!isColumns(events)) return events;
  const list: NewEvent[] = [];
  eachEvent(events, objectMakers(), (id, type, data, metadata) => list.push({ id, type, data, metadata }));
  return list;
}

/** Calls `visit` for each event, in order. `makerOf`: keep one for many batches, as it caches what it makes of names. */
export function eachEvent(events: NewEvents, makerOf: MakerOf, visit: EventVisitor): void {
  if (isColumns(events)) eachOfColumns(events, makerOf, visit);
  else for (const { id, type, data, metadata } of events) visit(id, type, data, metadata);
}

/** Reading long logs spends most of its time here: hence one pass, without a list or an object of its own an event. */
function eachOfColumns(columns: EventColumns, makerOf: MakerOf, visit: EventVisitor): void {
  const { type, schemaVersion, actor, times, numbers, members, timeMember } = columns;
  const make = makerOf(members);
  const idOf = numberedIds(columns.writer);
  const textOf = isoTexts();
  const cells = cellsOf(columns);
  const values: unknown[] = members.map(() => null);
  const time = members.indexOf(timeMember);
  let [at, number] = [0, 0];
  for (let n = 0; n < times.length; n++) {
    at += times[n] as number;
    number += numbers[n] as number;
    values[time] = textOf(at);
    for (const { member, column, each, isOneEach } of cells) {
      const row = each ? (each[n] as number) : isOneEach ? n : 0;
      values[member] = cellOf(column, row);
    }
    const id = idOf(at, number);
    visit(id, type, make(values), { schemaVersion, correlationId: id, causationId: id, actor });
  }
}

/** The columns of all groups. `member`: index of the member. `isOneEach`: row n is that of event n. */
function cellsOf({ groups, members }: EventColumns) {
  return groups.flatMap(({ members: names, values, each }) => {
    const isOneEach = !each && !isShared(values);
    return values.map((column, m) => ({
      member: members.indexOf(names[m] as string),
      column,
      each,
      isOneEach,
    }));
  });
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
  return isShared(values)
    ? { members, values }
    : { members, values: values.map((one) => (one.length === 1 ? one : one.slice(start))) };
}

function laterOf(differences: readonly number[], start: number): number[] {
  return [sumOf(differences.slice(0, start + 1)), ...differences.slice(start + 1)];
}

/** Index of event n's row. */
export function rowOf({ each, values }: ColumnGroup, n: number): number {
  if (each) return each[n] as number;
  return isShared(values) ? 0 : n;
}

/** A column's value in a row. */
export function cellOf(column: readonly unknown[], row: number): unknown {
  return column.length === 1 ? column[0] : column[row];
}

/** A column of a group with its only value once, where all rows have the same text or number. */
export function collapsed(column: unknown[]): unknown[] {
  const [first] = column;
  return column.every((value) => value === first) ? [first] : column;
}

/** Whether all events share the only row. */
function isShared(values: readonly unknown[][]): boolean {
  return values.every((column) => column.length === 1);
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
