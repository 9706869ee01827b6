// Instants and local times of an IANA time zone, from the offsets that Intl knows.
import { Refused } from "../../commands/refusals.ts";
import { isTimeZone, noTimeZone, utcDate } from "../../runtime/moment.ts";

/** All times are milliseconds; local times are written as if they were UTC. */
export type TimeZone = {
  /** As it was asked for. */
  name: string;
  /** Local time minus UTC. */
  offsetAt(instant: number): number;
  /** The first instant of (from, to] at which the offset differs from the one at `from`; undefined for none. */
  changeIn(from: number, to: number): number | undefined;
};

/** YYYY-MM-DD of UTC; undefined for no bound. */
export function dateOf(time: number): string | undefined {
  return Number.isFinite(time) ? utcDate(new Date(time)) : undefined;
}

export const DAY_MS = 86_400_000;
export const HOUR_MS = 3_600_000;
export const QUARTER_MS = 900_000;
const SECOND_MS = 1_000;

export const UTC: TimeZone = { name: "UTC", offsetAt: () => 0, changeIn: () => undefined };

/** Undefined when there is no such zone. It keeps the offsets that it has looked up, so it is made for one request. */
export function timeZone(name: string): TimeZone | undefined {
  if (name === UTC.name) return UTC;
  if (!isTimeZone(name)) return undefined;
  return zoneOf(name, new Intl.DateTimeFormat("en-US", { timeZone: name, timeZoneName: "longOffset" }));
}

/** The zone of an argument. @throws invalid_range */
export function zoneNamed(name: string): TimeZone {
  const zone = timeZone(name);
  if (!zone) throw new Refused("invalid_range", noTimeZone(name), { field: "timezone" });
  return zone;
}

function zoneOf(name: string, format: Intl.DateTimeFormat): TimeZone {
  const exact = (instant: number) => offsetOf(format.format(instant));
  const atStartOf = new Map<number, number>();
  const startOffset = (day: number) => {
    let offset = atStartOf.get(day);
    if (offset === undefined) {
      offset = exact(day * DAY_MS);
      atStartOf.set(day, offset);
    }
    return offset;
  };
  // No zone has changed its offset and changed it back within a UTC day.
  const offsetAt = (instant: number) => {
    const day = Math.floor(instant / DAY_MS);
    const offset = startOffset(day);
    return offset === startOffset(day + 1) ? offset : exact(instant);
  };
  return {
    name,
    offsetAt,
    changeIn(from, to) {
      const before = offsetAt(from);
      for (let day = from; day < to; day += DAY_MS) {
        const end = Math.min(day + DAY_MS, to);
        if (offsetAt(end) !== before) return firstOther(offsetAt, day, end);
      }
      return undefined;
    },
  };
}

/** The first instant, on a full second, whose offset differs from that at `low`; the one at `high` does. */
function firstOther(offsetAt: (instant: number) => number, low: number, high: number): number {
  const before = offsetAt(low);
  let [same, other] = [Math.floor(low / SECOND_MS), Math.ceil(high / SECOND_MS)];
  while (other - same > 1) {
    const middle = Math.floor((same + other) / 2);
    if (offsetAt(middle * SECOND_MS) === before) same = middle;
    else other = middle;
  }
  return other * SECOND_MS;
}

/** Of `11/22/2026, GMT+05:45`; seconds in the years before standard time. */
function offsetOf(text: string): number {
  const [, sign, hours, minutes, seconds = "0"] = /GMT([+-])(\d\d):(\d\d)(?::(\d\d))?$/.exec(text) ?? [];
  if (sign === undefined) return 0;
  const ms = (Number(hours) * 3600 + Number(minutes) * 60 + Number(seconds)) * SECOND_MS;
  return sign === "-" ? -ms : ms;
}

/**
 * The instant of a local time: the earlier one of two when clocks were set back. A time that clocks were set over is
 * `skipped`: `start` is the instant of the change, `later` the local time by the offset before it (as Temporal's
 * `compatible`).
 */
export function instantOf(zone: TimeZone, local: number, skipped: "start" | "later"): number {
  // Offsets are less than a day, and no zone changes twice in two days.
  const [before, after] = [zone.offsetAt(local - DAY_MS), zone.offsetAt(local + DAY_MS)];
  for (const offset of before > after ? [before, after] : [after, before])
    if (zone.offsetAt(local - offset) === offset) return local - offset;
  if (skipped === "later") return local - before;
  return zone.changeIn(local - after, local - before) ?? local - before;
}

/** ISO 8601 with the zone's offset, or in UTC with `Z`. */
export function isoIn(zone: TimeZone, instant: number): string {
  const offset = zone.offsetAt(instant);
  const minutes = Math.abs(offset) / 60_000;
  // ISO 8601 has no offsets with seconds, which zones had before standard time.
  if (zone === UTC || !Number.isInteger(minutes)) return new Date(instant).toISOString();
  const two = (n: number) => String(n).padStart(2, "0");
  const sign = offset < 0 ? "-" : "+";
  const local = new Date(instant + offset).toISOString().slice(0, -1);
  return `${local}${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}
