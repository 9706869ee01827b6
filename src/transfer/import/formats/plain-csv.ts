// A table for everybody else, whose columns are named as the fields of our API: docs/import.md lists them.
import type { RedirectCode } from "../../../events/link-options.ts";
import { Refused } from "../../../runtime/refused.ts";
import {
  column,
  flag,
  list,
  lowerCase,
  required,
  tableFormat,
  text,
  time,
  total,
  wholeNumber,
} from "../columns.ts";
import { isTrue, jsonOf, memberOf, numberOf, requiredText, textOf } from "../fields.ts";
import type { Fields, ImportedFields, ImportedPassword, ImportedRule } from "../imported.ts";

export const plainCsv = tableFormat({
  name: "csv",
  links: {
    url: required("url"),
    slug: column(slugOf, "slug"),
    domain: lowerCase("domain"),
    title: text("title"),
    tags: list("tags"),
    comments: text("comments"),
    external_id: text("external_id"),
    active_from: time("active_from"),
    expires_at: time("expires_at"),
    expired_url: text("expired_url"),
    max_clicks: wholeNumber("max_clicks"),
    password: column((record, names) => passwordOf(textOf(record, names)), "password"),
    redirect_code: column(
      (record, names) => numberOf(record, names) as RedirectCode | undefined,
      "redirect_code",
    ),
    forward_query: column(forwardingOf, "forward_query"),
    rules: column((record, names) => jsonOf(record, names) as ImportedRule[] | undefined, "rules"),
    disabled: flag("disabled"),
    created_at: time("created_at"),
    clicks: total("clicks"),
  },
  needed: [["url"]],
});

/** Undefined where there is none: it gets one. @throws record_refused for what is no text */
function slugOf(record: Fields, names: readonly string[]): string | undefined {
  const value = memberOf(record, "slug") ?? "";
  return typeof value === "string" && value.trim() === "" ? undefined : requiredText(record, names);
}

/** @throws record_refused */
function forwardingOf(record: Fields, names: readonly string[]): ImportedFields["forward_query"] {
  const winner = textOf(record, names)?.toLowerCase();
  return winner === "visitor" || winner === "destination" ? winner : isTrue(record, names);
}

/** @throws record_refused for a bcrypt hash */
function passwordOf(written: string | undefined): ImportedPassword | undefined {
  if (written === undefined) return undefined;
  if (written.startsWith("$argon2id$")) return { hash: written };
  if (/^\$2[abxy]\$\d\d\$/.test(written))
    throw new Refused("record_refused", "its password is a bcrypt hash, which links here can't use");
  return { text: written };
}
