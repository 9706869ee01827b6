// Prints a command's answer: one JSON document with --json; for people sentences, fields one below the other, and tables.
import type { Writable } from "node:stream";
import { isObject } from "../runtime/is-object.ts";

/** A JSON object. */
export type Printable = { readonly [key: string]: unknown };

type Output = Writable & { isTTY?: boolean; columns?: number | undefined };

/** Where a command is given: in its process, at the other end of the service's socket, or in a test. */
export type Terminal = {
  env: Readonly<Record<string, string | undefined>>;
  stdout: Output;
  stderr: Output;
  on(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
  off(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
  exit(code: number): void;
  /** Aborted when nobody waits for the answer any more: of another process alone. */
  gone?: AbortSignal;
};

/** Where the output is no terminal that knows its width. */
const WIDTH = 160;
const GAP = "  ";

/** A text is a sentence already. A table that is wider than `width` is shown row by row instead. */
export function forPeople(answer: Printable | string, width = WIDTH): string {
  return typeof answer === "string" ? answer : sections(answer, width).join("\n\n");
}

/** What a check came to is the last line for people, where it can't be missed. */
export function withVerdict({ sentence, ...rest }: Printable & { sentence: string }, width?: number): string {
  return `${forPeople(rest, width)}\n\n${printable(sentence)}`;
}

/** Such as `1 record`, `12,345 records`. */
export function counted(count: number, singular: string, plural = `${singular}s`): string {
  return `${count.toLocaleString("en")} ${count === 1 ? singular : plural}`;
}

/** On one line, without what a terminal obeys: labels, DNS records and receivers' answers are others' text. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (char) => (/\s/.test(char) ? " " : "\uFFFD"));
}

/** What has one value comes first. What is absent is left out. */
function sections(answer: Printable, width: number): string[] {
  const present = Object.entries(answer).filter(([, value]) => !isAbsent(value));
  const isPart = ([, value]: [string, unknown]) =>
    isObject(value) || (Array.isArray(value) && !isShort(value));
  const fields = Object.fromEntries(present.filter((entry) => !isPart(entry)));
  const parts = present.filter(isPart);
  const isOnlyList = parts.length === 1 && Object.keys(fields).length === 0;
  return [
    ...(Object.keys(fields).length > 0 ? [fieldLines(fields).join("\n")] : []),
    ...parts.map(([name, value]) => part(name, value, width, isOnlyList)),
  ];
}

function part(name: string, value: unknown, width: number, isOnlyList: boolean): string {
  const indent = isOnlyList ? "" : GAP;
  const title = isOnlyList ? [] : [labelOf(name)];
  if (isObject(value)) return [labelOf(name), ...fieldLines(value).map((line) => GAP + line)].join("\n");
  const rows = value as readonly unknown[];
  if (rows.length === 0) return `${labelOf(name)}: none`;
  const lines = rows.every(isObject) ? table(rows, width - indent.length) : rows.map(text);
  return [...title, ...lines.map((line) => (line === "" ? "" : indent + line))].join("\n");
}

function fieldLines(fields: Printable): string[] {
  const present = Object.entries(fields).filter(([, value]) => !isAbsent(value));
  const labels = present.map(([name]) => labelOf(name));
  const width = Math.max(...labels.map(({ length }) => length));
  return present.map(([, value], n) => `${labels[n]?.padEnd(width)}${GAP}${text(value)}`);
}

/** Without the columns that no row has a value in; row by row where it would be wider than `width`. */
function table(rows: readonly Printable[], width: number): string[] {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))].filter((name) =>
    rows.some((row) => !isAbsent(row[name])),
  );
  const cells = [names.map(labelOf), ...rows.map((row) => names.map((name) => text(row[name])))];
  const widths = names.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  if (widths.reduce((sum, width) => sum + width + GAP.length, -GAP.length) > width)
    return rows.flatMap((row, n) => (n === 0 ? fieldLines(row) : ["", ...fieldLines(row)]));
  const isNumber = names.map((name) => rows.every((row) => typeof row[name] === "number"));
  const cell = (value: string, column: number) =>
    isNumber[column] ? value.padStart(widths[column] ?? 0) : value.padEnd(widths[column] ?? 0);
  return cells.map((row) => row.map(cell).join(GAP).trimEnd());
}

/** On one line: of an object names and values, such as `clicks 3, via web`. */
export function text(value: unknown): string {
  if (isAbsent(value)) return "-";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(text).join(", ");
  if (isObject(value))
    return Object.entries(value)
      .filter(([, member]) => !isAbsent(member))
      .map(([name, member]) => `${wordsOf(name)} ${text(member)}`)
      .join(", ");
  return printable(timeForPeople(String(value)));
}

/** Such as `2026-11-27 12:30:05 UTC`; any other text as it is. */
function timeForPeople(value: string): string {
  return value.replace(/^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z$/, "$1 $2 UTC");
}

/** `account_id` and `accountId` are `Account ID`; what is no name of ours stays, such as a type of event or a host. */
function labelOf(name: string): string {
  const words = wordsOf(name);
  return isOurs(name) ? words.charAt(0).toUpperCase() + words.slice(1) : words;
}

function isOurs(name: string): boolean {
  return /^[a-z]\w*$/.test(name);
}

function wordsOf(name: string): string {
  if (!isOurs(name)) return printable(name);
  const words = name.replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`).replaceAll("_", " ");
  return printable(words.replace(/\b(url|ip|id|qr|utm)\b/g, (acronym) => acronym.toUpperCase()));
}

function isAbsent(value: unknown): boolean {
  if (isObject(value)) return Object.keys(value).length === 0;
  return value === null || value === undefined || value === "";
}

/** A list of words fits in a line. */
function isShort(list: readonly unknown[]): boolean {
  return list.length > 0 && list.every((entry) => typeof entry !== "object" && !/\s/.test(String(entry)));
}
