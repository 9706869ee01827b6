// The one reading of dates and times that come from outside, UTC days, and by how much clocks may differ.

import { closestName } from "./text/closest-name.ts";
import { cutText } from "./text/cut-text.ts";

/** Tolerated difference between the clocks of several machines. */
export const CLOCK_SKEW_MS = 5 * 60_000;

export const MOMENT_EXAMPLE = "a date such as 2026-01-31, or a time such as 2026-01-31T12:00Z";

const FORM =
  /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?(Z|[+-](?:[01]\d|2[0-3])(?::?[0-5]\d)?)?)?$/i;
const DATE = /^\d{4}-\d\d-\d\d$/;
const MINUTE_MS = 60_000;
const LONGEST_ZONE = 100;

/** `local`: milliseconds as if the text were UTC. `offset`: local time minus UTC; undefined when none is given. */
export type LocalMoment = { local: number; offset: number | undefined };

/**
 * A calendar date, which is its first moment, or a date and a time of ISO 8601; also with a space for the `T` and an
 * offset of hours alone, as databases write it. Undefined for what no calendar and no clock of 24 hours shows, such as
 * 31 February, 24:00 and leap seconds, which Date moves elsewhere or doesn't know.
 */
export function parseLocalMoment(text: string): LocalMoment | undefined {
  const [, date, time = "00:00", seconds = "00", fraction = "", offset] = FORM.exec(text) ?? [];
  const iso = `${date}T${time}:${seconds}.${fraction.slice(0, 3).padEnd(3, "0")}Z`;
  const local = Date.parse(iso);
  if (Number.isNaN(local) || new Date(local).toISOString() !== iso) return undefined;
  return { local, offset: offset === undefined ? undefined : offsetOf(offset) };
}

/** A calendar date alone, such as 2026-01-31: milliseconds of its first moment as if it were UTC. */
export function parseDate(text: string): number | undefined {
  return DATE.test(text) ? parseLocalMoment(text)?.local : undefined;
}

/** A time without an offset is UTC, as in a form's `datetime-local`; of the years 0 to 9999 in UTC. */
export function parseMoment(text: string): Date | undefined {
  const moment = parseLocalMoment(text);
  if (!moment) return undefined;
  const at = new Date(moment.local - (moment.offset ?? 0));
  // Further years have another form in UTC, and times are compared as text.
  return /^\d{4}-/.test(at.toISOString()) ? at : undefined;
}

/** The date of an HTTP header (RFC 9110, 5.6.7), in the one form that senders may use. */
export function parseHttpDate(text: string): Date | undefined {
  const at = new Date(text);
  return !Number.isNaN(at.getTime()) && at.toUTCString() === text ? at : undefined;
}

/** YYYY-MM-DD of the UTC day. */
export function utcDate(at: Date): string {
  return at.toISOString().slice(0, 10);
}

/** What Intl takes for a zone beside names, but for multiples of a quarter-hour, by which hits are counted. */
const UNEVEN_OFFSET = /^[+-]\d\d:?(?!00|15|30|45)\d\d$/;

/** Whether Intl knows the time zone; aliases too, such as Asia/Kolkata and Etc/UTC, which it doesn't list. */
export function isTimeZone(name: string): boolean {
  if (UNEVEN_OFFSET.test(name)) return false;
  try {
    new Intl.DateTimeFormat("en-US", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** Says that there is no such zone, and which may be meant, by its name or that of its city alone. */
export function noTimeZone(name: string): string {
  const plain = (text: string) => text.toLowerCase().replace(/[\s_-]+/g, "_");
  const zones = new Map(Intl.supportedValuesOf("timeZone").map((zone) => [plain(zone), zone]));
  const cities = new Map([...zones].map(([text, zone]) => [text.slice(text.lastIndexOf("/") + 1), zone]));
  const shown = cutText(name, LONGEST_ZONE);
  const wanted = plain(shown);
  const closest = (known: ReadonlyMap<string, string>) =>
    known.get(closestName(wanted, [...known.keys()]) ?? "");
  const meant = cities.get(wanted) ?? closest(zones) ?? closest(cities);
  return `There is no time zone “${shown}”: ${meant ? `did you mean ${meant}?` : "use an IANA name such as Europe/Berlin"}`;
}

function offsetOf(text: string): number {
  if (text.toUpperCase() === "Z") return 0;
  const [hours, minutes] = [text.slice(1, 3), text.slice(3).replace(":", "")];
  const offset = (Number(hours) * 60 + Number(minutes)) * MINUTE_MS;
  return text.startsWith("-") ? -offset : offset;
}
