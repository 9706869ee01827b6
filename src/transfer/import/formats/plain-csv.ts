// A table for everybody else, whose columns are named as the fields of our API: docs/import.md lists them.
import { FIELD_NAMES, type FieldKind, fieldRow } from "../../../commands/links/fields/link-fields.ts";
import { Failure } from "../../../runtime/errors.ts";
import { column, flag, lowerCase, type Read, required, tableFormat, time, total } from "../columns.ts";
import { isTrue, jsonOf, listOf, memberOf, numberOf, optionalTime, requiredText, textOf } from "../fields.ts";
import type { Fields, ImportedFields, ImportedPassword } from "../imported.ts";

/** By what a field holds. */
const CELLS: Readonly<Record<FieldKind, Read<unknown>>> = {
  text: textOf,
  lines: textOf,
  url: textOf,
  list: listOf,
  time: optionalTime,
  count: numberOf,
  code: numberOf,
  password: (record, names) => passwordOf(textOf(record, names)),
  forwarding: forwardingOf,
  rules: jsonOf,
};

export const plainCsv = tableFormat({
  name: "csv",
  links: {
    url: required("url"),
    slug: column(slugOf, "slug"),
    domain: lowerCase("domain"),
    ...Object.fromEntries(FIELD_NAMES.map((name) => [name, column(CELLS[fieldRow(name).kind], name)])),
    disabled: flag("disabled"),
    created_at: time("created_at"),
    clicks: total("clicks"),
  },
  further: { has_password: ["has_password"] },
  leftOut: {
    short_url: "it follows from domain and slug",
    status: "it follows from the other columns",
    made_by: "here they are made by the import",
  },
  needed: [["url"]],
  complete(link, record) {
    if (isTrue(record, ["has_password"]) && !link.fields?.password)
      throw new Failure("it is protected by a password that is not in the file");
    const status = textOf(record, ["status"]);
    if (status === "blocked" || status === "deleted") throw new Failure(`it is ${status} there`);
    return [link];
  },
});

/** Undefined where there is none: it gets one. @throws Failure for what is no text */
function slugOf(record: Fields, names: readonly string[]): string | undefined {
  const value = memberOf(record, "slug") ?? "";
  return typeof value === "string" && value.trim() === "" ? undefined : requiredText(record, names);
}

/** @throws Failure */
function forwardingOf(record: Fields, names: readonly string[]): ImportedFields["forward_query"] {
  const winner = textOf(record, names)?.toLowerCase();
  return winner === "visitor" || winner === "destination" ? winner : isTrue(record, names);
}

/** @throws Failure for a bcrypt hash */
function passwordOf(written: string | undefined): ImportedPassword | undefined {
  if (written === undefined) return undefined;
  if (written.startsWith("$argon2id$")) return { hash: written };
  if (/^\$2[abxy]\$\d\d\$/.test(written))
    throw new Failure("its password is a bcrypt hash, which links here can't use");
  return { text: written };
}
