// Prints a command's answer: one JSON document with --json, else lines for people.
import { isObject } from "../runtime/is-object.ts";

/** A JSON object. */
export type Printable = { readonly [key: string]: unknown };

export function print(answer: Printable, { json }: { json?: boolean }): void {
  process.stdout.write(json ? `${JSON.stringify(answer)}\n` : `${lines(answer, "").join("\n")}\n`);
}

function lines(value: Printable, indent: string): string[] {
  return Object.entries(value).flatMap(([name, field]) => {
    if (Array.isArray(field))
      return [`${indent}${name}: ${field.length}`, ...field.map((row) => line(row, indent))];
    if (isObject(field)) return [`${indent}${name}:`, ...lines(field, `${indent}  `)];
    return [`${indent}${name}: ${text(field)}`];
  });
}

function line(row: unknown, indent: string): string {
  const fields = isObject(row)
    ? Object.entries(row).map(([name, field]) => `${name}=${text(field)}`)
    : [text(row)];
  return `${indent}  ${fields.join("  ")}`;
}

function text(field: unknown): string {
  if (field === null || field === undefined) return "-";
  return printable(typeof field === "object" ? JSON.stringify(field) : String(field));
}

/** On one line, without what a terminal obeys: labels, DNS records and receivers' answers are others' text. */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Bidi_Control}]/gu, (char) => (/\s/.test(char) ? " " : "\uFFFD"));
}
