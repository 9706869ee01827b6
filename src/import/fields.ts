// Reads fields of records whose names and forms differ by service and version.
import { parseMoment } from "../runtime/moment.ts";
import { Refused } from "../runtime/refused.ts";
import type { Fields, ImportedChange } from "./imported.ts";

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

/** CSV files of databases write them as 0, f and the like. */
export function isTrue(record: Fields, name: string): boolean {
  return /^(true|t|yes|1)$/i.test(text(record, name) ?? "");
}

/** ISO 8601 UTC, from 1970 on. Without an offset it is taken as UTC. @throws record_refused */
export function timeOf(given: string): string {
  const at = parseMoment(given);
  if (!at || at.getTime() < 0) throw new Refused("record_refused", `${given} is not a time`);
  return at.toISOString();
}

/** @throws record_refused */
export function optionalTime(record: Fields, ...names: readonly string[]): string | undefined {
  const found = text(record, ...names);
  return found === undefined ? undefined : timeOf(found);
}

/** Host and slug of a short URL, with or without a scheme; a bare slug has no host. @throws record_refused */
export function shortUrlOf(given: string): { host: string | undefined; slug: string } {
  const [, host, slug] = /^(?:https?:\/\/)?(?:([^/]+)\/)?([^/?#]+)\/?$/i.exec(given) ?? [];
  if (slug === undefined) throw new Refused("record_refused", `${given} is not a short URL`);
  return { host: host?.toLowerCase(), slug };
}

/** Links here can't end by a date of the file: one that has ended is disabled. @throws record_refused for one to come */
export function endAt(end: string | undefined, now: Date): ImportedChange[] {
  if (end === undefined) return [];
  if (end > now.toISOString())
    throw new Refused("record_refused", `it ends at ${end}, which links here can't`);
  return [{ at: end, change: { type: "disable" } }];
}
