// Reads values of records whose names and forms differ by service and version.

import { instantOf, type TimeZone } from "../../queries/analytics/time-zone.ts";
import { Failure } from "../../runtime/errors.ts";
import { isObject } from "../../runtime/is-object.ts";
import { parseLocalMoment } from "../../runtime/moment.ts";
import type { Fields } from "./imported.ts";
import { isTooDeep } from "./reading/json-values.ts";

/** The first of the fields that has a value, as text. A dot leads to a member of a member. */
export function textOf(record: Fields, names: readonly string[]): string | undefined {
  for (const name of names) {
    const value = memberOf(record, name);
    if (typeof value === "string" && value.trim() !== "") return value.trim();
    if (typeof value === "number" || typeof value === "boolean") return String(value);
  }
  return undefined;
}

export function memberOf(record: Fields, name: string): unknown {
  return name
    .split(".")
    .reduce<unknown>((value, part) => (value as Fields | null | undefined)?.[part], record);
}

/**
 * The first of the fields that has one: a list of texts or of objects with a `name`; in CSV parted by commas,
 * semicolons or bars, or JSON.
 */
export function listOf(record: Fields, names: readonly string[]): string[] {
  for (const name of names) {
    const written = textOf(record, [name]);
    const isParted = written !== undefined && !written.startsWith("[");
    const list = isParted ? written.split(/[,;|]/) : jsonOf(record, [name]);
    if (!Array.isArray(list)) continue;
    return list.flatMap((item) => textOf({ text: isObject(item) ? item.name : item }, ["text"]) ?? []);
  }
  return [];
}

/** A member, or as CSV its JSON. @throws Failure */
export function jsonOf(record: Fields, [name = ""]: readonly string[]): unknown {
  const value = memberOf(record, name);
  if (typeof value !== "string") return value ?? undefined;
  if (value.trim() === "") return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(value) ?? undefined;
  } catch {
    throw new Failure(`${name} is no JSON`);
  }
  if (isTooDeep(parsed)) throw new Failure(`${name} is nested too deeply`);
  return parsed;
}

/** @throws Failure when it is missing */
export function requiredText(record: Fields, names: readonly string[]): string {
  const written = textOf(record, names);
  if (written === undefined) throw new Failure(`there is no ${names[0]}`);
  return written;
}

export function countOf(record: Fields, names: readonly string[]): number | undefined {
  const count = Number(textOf(record, names)?.replaceAll(",", ""));
  return Number.isInteger(count) && count >= 0 ? count : undefined;
}

/** @throws Failure when there is one that is no number */
export function numberOf(record: Fields, names: readonly string[]): number | undefined {
  const written = textOf(record, names);
  if (written === undefined) return undefined;
  if (!/^-?\d+$/.test(written)) throw new Failure(`${written} is not a number`);
  return Number(written);
}

/**
 * CSV files of databases write them as 0, f and the like.
 * @throws Failure for what is neither true nor false
 */
export function isTrue(record: Fields, [name = ""]: readonly string[]): boolean {
  const written = textOf(record, [name]) ?? "";
  if (/^(true|t|yes|1)$/i.test(written)) return true;
  if (/^(false|f|no|0|)$/i.test(written)) return false;
  throw new Failure(`${name} is neither true nor false`);
}

/**
 * ISO 8601 UTC, from 1970 on. `zone`: of times that name no offset.
 * @throws Failure also for those where no zone is known
 */
export function timeOf(written: string, zone: TimeZone | undefined): string {
  const { local, offset } = parseLocalMoment(written) ?? {};
  if (local === undefined) throw noTime(written);
  if (offset === undefined && !zone)
    throw new Failure(`${written} names no offset: name its time zone by --timezone`);
  const at = offset === undefined ? instantOf(zone as TimeZone, local, "later") : local - offset;
  if (at < 0 || at > LATEST) throw noTime(written);
  return new Date(at).toISOString();
}

/** The end of the year 9999, as times are compared as text. */
const LATEST = 253_402_300_799_999;

function noTime(written: string): Failure {
  return new Failure(`${written} is not a time`);
}

/** MySQL's 0000-00-00 is no time. @throws Failure */
export function optionalTime(
  record: Fields,
  names: readonly string[],
  { zone }: { zone: TimeZone | undefined },
): string | undefined {
  const written = textOf(record, names);
  if (written === undefined || /^0000-00-00([ T]00:00:00(\.0+)?)?$/.test(written)) return undefined;
  return timeOf(written, zone);
}

/** Host and slug of a short URL, with or without a scheme; a bare slug has no host. @throws Failure */
export function shortUrlOf(written: string): { host: string | undefined; slug: string } {
  const [, host, slug] = /^(?:https?:\/\/)?(?:([^/]+)\/)?([^/?#]+)\/?$/i.exec(written) ?? [];
  if (slug === undefined) throw new Failure(`${written} is not a short URL`);
  return { host: host?.toLowerCase(), slug };
}
