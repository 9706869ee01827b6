// Reads fields of records whose names and forms differ by service and version.
import { isObject } from "../../runtime/is-object.ts";
import { parseMoment } from "../../runtime/moment.ts";
import { Refused } from "../../runtime/refused.ts";
import type { Fields } from "./imported.ts";

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
 * The first of the fields that has one: a list of texts or of objects with a `name`; in CSV parted by commas, or
 * JSON.
 */
export function listOf(record: Fields, ...names: readonly string[]): string[] {
  for (const name of names) {
    const given = text(record, name);
    const isParted = given !== undefined && !given.startsWith("[");
    const found = isParted ? given.split(",") : jsonOf(record, name);
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
  try {
    return JSON.parse(value) ?? undefined;
  } catch {
    throw new Refused("record_refused", `${name} is no JSON`);
  }
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

/** ISO 8601 UTC, from 1970 on. Without an offset it is taken as UTC. @throws record_refused */
export function timeOf(given: string): string {
  const at = parseMoment(given);
  if (!at || at.getTime() < 0) throw new Refused("record_refused", `${given} is not a time`);
  return at.toISOString();
}

/** MySQL's 0000-00-00 is no time. @throws record_refused */
export function optionalTime(record: Fields, ...names: readonly string[]): string | undefined {
  const found = text(record, ...names);
  return found === undefined || /^0000-00-00([ T]00:00:00(\.0+)?)?$/.test(found) ? undefined : timeOf(found);
}

/** Host and slug of a short URL, with or without a scheme; a bare slug has no host. @throws record_refused */
export function shortUrlOf(given: string): { host: string | undefined; slug: string } {
  const [, host, slug] = /^(?:https?:\/\/)?(?:([^/]+)\/)?([^/?#]+)\/?$/i.exec(given) ?? [];
  if (slug === undefined) throw new Refused("record_refused", `${given} is not a short URL`);
  return { host: host?.toLowerCase(), slug };
}
