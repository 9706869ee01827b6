// Reads fields of records whose names and forms differ by service and version.

import { instantOf, type TimeZone } from "../../queries/analytics/time-zone.ts";
import { isObject } from "../../runtime/is-object.ts";
import { parseLocalMoment } from "../../runtime/moment.ts";
import { Refused } from "../../runtime/refused.ts";
import type { Fields } from "./imported.ts";
import { isDeeper } from "./read-rows.ts";

const DEEPEST = 50;

/** The first of the fields that has a value, as text. A dot leads to a member of a member. */
export function text(record: Fields, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const found = memberOf(record, name);
    if (typeof found === "string" && found.trim() !== "") return found.trim();
    if (typeof found === "number" || typeof found === "boolean") return String(found);
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
export function listOf(record: Fields, ...names: readonly string[]): string[] {
  for (const name of names) {
    const given = text(record, name);
    const isParted = given !== undefined && !given.startsWith("[");
    const found = isParted ? given.split(/[,;|]/) : jsonOf(record, name);
    if (!Array.isArray(found)) continue;
    const texts = found.map((one) => (isObject(one) ? one.name : one));
    return texts.flatMap((one) => (one === null || one === undefined ? [] : (text({ one }, "one") ?? [])));
  }
  return [];
}

/** A member, or as CSV its JSON. @throws record_refused */
export function jsonOf(record: Fields, name: string): unknown {
  const value = memberOf(record, name);
  if (typeof value !== "string") return value ?? undefined;
  if (value.trim() === "") return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(value) ?? undefined;
  } catch {
    throw new Refused("record_refused", `${name} is no JSON`);
  }
  if (isDeeper(parsed, DEEPEST)) throw new Refused("record_refused", `${name} is nested too deeply`);
  return parsed;
}

/** @throws record_refused when it is missing */
export function requiredText(record: Fields, ...names: readonly string[]): string {
  const found = text(record, ...names);
  if (found === undefined) throw new Refused("record_refused", `there is no ${names[0]}`);
  return found;
}

export function count(record: Fields, ...names: readonly string[]): number | undefined {
  const found = Number(text(record, ...names)?.replaceAll(",", ""));
  return Number.isInteger(found) && found >= 0 ? found : undefined;
}

/** A total that is no whole number is not taken, which `note` hears. */
export function totalOf(record: Fields, note: (text: string) => void, ...names: readonly string[]) {
  const [total, written] = [count(record, ...names), text(record, ...names)];
  if (total === undefined && written !== undefined)
    note(`the total of clicks is not taken, as ${written} is no whole number`);
  return total;
}

/** @throws record_refused when there is one that is no number */
export function numberOf(record: Fields, ...names: readonly string[]): number | undefined {
  const found = text(record, ...names);
  if (found === undefined) return undefined;
  if (!/^-?\d+$/.test(found)) throw new Refused("record_refused", `${found} is not a number`);
  return Number(found);
}

/**
 * CSV files of databases write them as 0, f and the like.
 * @throws record_refused for what is neither true nor false
 */
export function isTrue(record: Fields, name: string): boolean {
  const found = text(record, name) ?? "";
  if (/^(true|t|yes|1)$/i.test(found)) return true;
  if (/^(false|f|no|0|)$/i.test(found)) return false;
  throw new Refused("record_refused", `${name} is neither true nor false`);
}

/**
 * ISO 8601 UTC, from 1970 on. `zone`: of times that name no offset.
 * @throws record_refused also for those where no zone is known
 */
export function timeOf(given: string, zone: TimeZone | undefined): string {
  const { local, offset } = parseLocalMoment(given) ?? {};
  if (local === undefined) throw noTime(given);
  if (offset === undefined && !zone)
    throw new Refused("record_refused", `${given} names no offset: name its time zone by --timezone`);
  const at = offset === undefined ? instantOf(zone as TimeZone, local, "later") : local - offset;
  if (at < 0 || at > LATEST) throw noTime(given);
  return new Date(at).toISOString();
}

/** The end of the year 9999, as times are compared as text. */
const LATEST = 253_402_300_799_999;

function noTime(given: string): Refused {
  return new Refused("record_refused", `${given} is not a time`);
}

/** MySQL's 0000-00-00 is no time. @throws record_refused */
export function optionalTime(record: Fields, zone: TimeZone | undefined, ...names: readonly string[]) {
  const found = text(record, ...names);
  if (found === undefined || /^0000-00-00([ T]00:00:00(\.0+)?)?$/.test(found)) return undefined;
  return timeOf(found, zone);
}

/** Host and slug of a short URL, with or without a scheme; a bare slug has no host. @throws record_refused */
export function shortUrlOf(given: string): { host: string | undefined; slug: string } {
  const [, host, slug] = /^(?:https?:\/\/)?(?:([^/]+)\/)?([^/?#]+)\/?$/i.exec(given) ?? [];
  if (slug === undefined) throw new Refused("record_refused", `${given} is not a short URL`);
  return { host: host?.toLowerCase(), slug };
}
