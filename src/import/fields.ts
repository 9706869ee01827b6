// Reads fields of records whose names and forms differ by service and version.
import { parseMoment } from "../runtime/moment.ts";
import { Refused } from "../runtime/refused.ts";
import type { Row } from "./imported.ts";

/** The first of the fields that has a value, as text. */
export function text({ value }: Row, ...names: readonly string[]): string | undefined {
  for (const name of names) {
    const found = value[name];
    if (typeof found === "string" && found.trim() !== "") return found.trim();
    if (typeof found === "number" || typeof found === "boolean") return String(found);
  }
  return undefined;
}

/** @throws record_refused when it is missing */
export function requiredText(row: Row, ...names: readonly string[]): string {
  const found = text(row, ...names);
  if (found === undefined) throw new Refused("record_refused", `there is no ${names[0]}`);
  return found;
}

export function count(row: Row, ...names: readonly string[]): number | undefined {
  const found = Number(text(row, ...names)?.replaceAll(",", ""));
  return Number.isInteger(found) && found >= 0 ? found : undefined;
}

/** CSV files of databases write them as 0, f and the like. */
export function isTrue(row: Row, name: string): boolean {
  return /^(true|t|yes|1)$/i.test(text(row, name) ?? "");
}

/** ISO 8601 UTC, from 1970 on. Without an offset it is taken as UTC. @throws record_refused */
export function timeOf(given: string): string {
  const at = parseMoment(given);
  if (!at || at.getTime() < 0) throw new Refused("record_refused", `${given} is not a time`);
  return at.toISOString();
}

export function optionalTime(row: Row, ...names: readonly string[]): string | undefined {
  const found = text(row, ...names);
  return found === undefined ? undefined : timeOf(found);
}

/** Host and slug of a short URL, with or without a scheme; a bare slug has no host. @throws record_refused */
export function shortUrlOf(given: string): { host: string | undefined; slug: string } {
  const [, host, slug] = /^(?:https?:\/\/)?(?:([^/]+)\/)?([^/?#]+)\/?$/i.exec(given) ?? [];
  if (slug === undefined) throw new Refused("record_refused", `${given} is not a short URL`);
  return { host: host?.toLowerCase(), slug };
}
