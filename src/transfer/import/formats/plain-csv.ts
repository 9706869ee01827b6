// A table for everybody else, whose columns are named as the fields of our API: docs/import.md lists them.
import { FIELD_NAMES, type FieldKind, fieldRow } from "../../../commands/links/fields/link-fields.ts";
import type { TimeZone } from "../../../queries/analytics/time-zone.ts";
import { Refused } from "../../../runtime/refused.ts";
import { isTrue, jsonOf, listOf, numberOf, optionalTime, requiredText, text, totalOf } from "../fields.ts";
import type { FieldList, Fields, ImportedFields, ImportedPassword, ImportFormat } from "../imported.ts";

const mapped: FieldList["mapped"] = {
  ...Object.fromEntries(["url", "slug", "domain", ...FIELD_NAMES].map((name) => [name, [name]])),
  disabled: ["disabled"],
  created_at: ["created_at"],
  clicks: ["clicks"],
};

type ReadCell = (record: Fields, name: string, zone: TimeZone | undefined) => unknown;

const textCell: ReadCell = (record, name) => text(record, name);
const numberCell: ReadCell = (record, name) => numberOf(record, name);

/** By what a field holds. Each throws record_refused for a cell that can't be read. */
const CELLS: Readonly<Record<FieldKind, ReadCell>> = {
  text: textCell,
  lines: textCell,
  url: textCell,
  list: (record, name) => listOf(record, name),
  time: (record, name, zone) => optionalTime(record, zone, name),
  count: numberCell,
  code: numberCell,
  password: (record, name) => passwordOf(text(record, name)),
  forwarding: forwardingOf,
  rules: jsonOf,
};

export const plainCsv: ImportFormat = {
  name: "csv",
  fields: { mapped, leftOut: {}, refused: {} },
  columns: { links: [["url"]] },
  linksOf(record, { zone, note }) {
    return [
      {
        // Made where there is none.
        slug: isBlank(record.slug) ? undefined : requiredText(record, "slug"),
        domain: text(record, "domain")?.toLowerCase(),
        longUrl: requiredText(record, "url"),
        createdAt: optionalTime(record, zone, "created_at"),
        changes: isTrue(record, "disabled") ? [{ at: undefined, change: { type: "disable" } }] : [],
        fields: Object.fromEntries(
          FIELD_NAMES.map((name) => [name, CELLS[fieldRow(name).kind](record, name, zone)]),
        ) as ImportedFields,
        totalClicks: totalOf(record, note, "clicks"),
      },
    ];
  },
  clicksOf: () => [],
};

function isBlank(value: unknown): boolean {
  return value === undefined || value === null || (typeof value === "string" && value.trim() === "");
}

/** @throws record_refused */
function forwardingOf(record: Fields, name: string): ImportedFields["forward_query"] {
  const winner = text(record, name)?.toLowerCase();
  return winner === "visitor" || winner === "destination" ? winner : isTrue(record, name);
}

/** @throws record_refused for a bcrypt hash */
function passwordOf(given: string | undefined): ImportedPassword | undefined {
  if (given === undefined) return undefined;
  if (given.startsWith("$argon2id$")) return { hash: given };
  if (/^\$2[abxy]\$\d\d\$/.test(given))
    throw new Refused("record_refused", "its password is a bcrypt hash, which links here can't use");
  return { text: given };
}
