// Accounts for every field of the links in a file: what it becomes, why it is left out or refused, or that we
// don't know it.
import { cleanText } from "../../events/classification/clean-text.ts";
import { Failure } from "../../runtime/errors.ts";
import { isObject } from "../../runtime/is-object.ts";
import type { FieldList, Fields } from "./imported.ts";

/**
 * `records`: how many have it. `becomes`: our word for it. A field that has no other member is not known to us.
 */
type FieldCount = { records: number; becomes?: string; left_out?: string; refused?: string };

type Fate = Omit<FieldCount, "records">;

const NAME_LENGTH = 64;
/** A file may have other names in every record; those beyond are counted as one. */
const MOST_NAMES = 500;
const OTHERS = "(others)";

/** `counts`: by the field's name in the file; a field that holds nothing is not there. */
export function fieldCounts({ mapped, leftOut, refused }: FieldList) {
  const counts: Record<string, FieldCount> = Object.create(null);
  const fates = new Map<string, Fate>();
  for (const [becomes, names] of Object.entries(mapped))
    for (const name of names) fates.set(name, { becomes });
  for (const [name, left_out] of Object.entries(leftOut)) fates.set(name, { left_out });
  for (const [name, why] of Object.entries(refused)) fates.set(name, { refused: why });
  /** Objects of which members are known, such as `meta` of `meta.maxVisits`. */
  const parents = new Set([...fates.keys()].flatMap(ancestorsOf));

  /** Counts the fields of one link. @throws Failure when it has one that must not be lost */
  function add(record: Fields): void {
    let refusal: string | undefined;
    for (const [name, value] of membersOf(record)) {
      const fate = fates.get(name);
      if (isNothing(value) || ((fate?.left_out || fate?.refused) && isUnset(value))) continue;
      const shownName = fate ? name : cleanText(name, NAME_LENGTH);
      const counted = shownName in counts || Object.keys(counts).length < MOST_NAMES ? shownName : OTHERS;
      counts[counted] = { ...fate, records: (counts[counted]?.records ?? 0) + 1 };
      refusal ??= fate?.refused;
    }
    if (refusal !== undefined) throw new Failure(refusal);
  }

  function* membersOf(record: Fields, prefix = ""): Generator<[name: string, value: unknown]> {
    for (const [member, value] of Object.entries(record)) {
      const name = `${prefix}${member}`;
      if (!fates.has(name) && parents.has(name) && isObject(value)) yield* membersOf(value, `${name}.`);
      else yield [name, value];
    }
  }

  return { add, counts };
}

function ancestorsOf(name: string): string[] {
  const parts = name.split(".");
  return parts.slice(1).map((_, n) => parts.slice(0, n + 1).join("."));
}

function isNothing(value: unknown): boolean {
  if (typeof value === "string") return value.trim() === "";
  return (
    value === null || value === undefined || (typeof value === "object" && Object.keys(value).length === 0)
  );
}

/** What was never set, such as a switch that is off, is no loss. */
function isUnset(value: unknown): boolean {
  return typeof value !== "object" && /^(false|f|no|0)$/i.test(String(value));
}
