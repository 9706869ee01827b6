// Names the fields in which a stored document differs from the one that the log gives.

import { isObject } from "../../runtime/is-object.ts";
import { cutText } from "../../runtime/text/cut-text.ts";
import type { Position } from "../../stores/event-store/port.ts";
import type { Document } from "../../stores/read-store/port.ts";

/** `field`: such as `countries[3]`; `stored` and `folded`: its values as JSON, cut to MAX_TEXT. */
export type FieldDifference = { field: string; stored: string; folded: string };

/** `problem`: `missing`: not stored; `unexpected`: stored, but the log has no event for it. */
export type Difference = {
  projection: string;
  id: string;
  position: Position;
  problem: "missing" | "unexpected" | "different";
  fields: FieldDifference[];
};

/** Of one document. */
const MAX_FIELDS = 5;
const MAX_TEXT = 120;

/** The first five fields that differ; none for equal documents. */
export function fieldsThatDiffer(stored: Document, folded: Document): FieldDifference[] {
  const differences: FieldDifference[] = [];
  for (const difference of differencesIn(stored, folded, "")) {
    differences.push(difference);
    if (differences.length === MAX_FIELDS) break;
  }
  return differences;
}

function* differencesIn(stored: unknown, folded: unknown, path: string): Generator<FieldDifference> {
  if (Object.is(stored, folded)) return;
  if (isList(stored) && isList(folded)) {
    const length = Math.max(stored.length, folded.length);
    for (let n = 0; n < length; n++) yield* differencesIn(stored[n], folded[n], `${path}[${n}]`);
  } else if (isObject(stored) && isObject(folded)) {
    // Members that begin with `_` are the fold's own.
    for (const name of new Set([...Object.keys(stored), ...Object.keys(folded)]))
      if (path !== "" || !name.startsWith("_"))
        yield* differencesIn(stored[name], folded[name], path ? `${path}.${name}` : name);
  } else yield { field: path, stored: textOf(stored), folded: textOf(folded) };
}

function textOf(value: unknown): string {
  const text = JSON.stringify(value) ?? "nothing";
  return text.length > MAX_TEXT ? `${cutText(text, MAX_TEXT)}…` : text;
}

function isList(value: unknown): value is unknown[] {
  return Array.isArray(value);
}
