// A table for everybody else, whose columns are named as the fields of our API: docs/import.md lists them.
import type { RedirectCode } from "../../../events/link-options.ts";
import { Refused } from "../../../runtime/refused.ts";
import { isTrue, jsonOf, listOf, numberOf, optionalTime, requiredText, text, totalOf } from "../fields.ts";
import type {
  FieldList,
  Fields,
  ImportedFields,
  ImportedPassword,
  ImportedRule,
  ImportFormat,
} from "../imported.ts";

const mapped = {
  url: ["url"],
  slug: ["slug"],
  domain: ["domain"],
  title: ["title"],
  tags: ["tags"],
  comments: ["comments"],
  external_id: ["external_id"],
  active_from: ["active_from"],
  expires_at: ["expires_at"],
  expired_url: ["expired_url"],
  max_clicks: ["max_clicks"],
  password: ["password"],
  redirect_code: ["redirect_code"],
  forward_query: ["forward_query"],
  rules: ["rules"],
  disabled: ["disabled"],
  created_at: ["created_at"],
  clicks: ["clicks"],
} as const satisfies FieldList["mapped"];

export const plainCsv: ImportFormat = {
  name: "csv",
  fields: { mapped, leftOut: { status: "it follows from the other columns" }, refused: {} },
  columns: { links: [mapped.url] },
  linksOf(record, { zone, note }) {
    return [
      {
        // Made where there is none.
        slug: isBlank(record.slug) ? undefined : requiredText(record, "slug"),
        domain: text(record, "domain")?.toLowerCase(),
        longUrl: requiredText(record, "url"),
        createdAt: optionalTime(record, zone, "created_at"),
        changes: isTrue(record, "disabled") ? [{ at: undefined, change: { type: "disable" } }] : [],
        fields: {
          title: text(record, "title"),
          tags: listOf(record, "tags"),
          comments: text(record, "comments"),
          external_id: text(record, "external_id"),
          active_from: optionalTime(record, zone, "active_from"),
          expires_at: optionalTime(record, zone, "expires_at"),
          expired_url: text(record, "expired_url"),
          max_clicks: numberOf(record, "max_clicks"),
          password: passwordOf(text(record, "password")),
          redirect_code: numberOf(record, "redirect_code") as RedirectCode | undefined,
          forward_query: forwardingOf(record),
          rules: jsonOf(record, "rules") as ImportedRule[] | undefined,
        },
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
function forwardingOf(record: Fields): ImportedFields["forward_query"] {
  const winner = text(record, "forward_query")?.toLowerCase();
  return winner === "visitor" || winner === "destination" ? winner : isTrue(record, "forward_query");
}

/** @throws record_refused for a bcrypt hash */
function passwordOf(given: string | undefined): ImportedPassword | undefined {
  if (given === undefined) return undefined;
  if (given.startsWith("$argon2id$")) return { hash: given };
  if (/^\$2[abxy]\$\d\d\$/.test(given))
    throw new Refused("record_refused", "its password is a bcrypt hash, which links here can't use");
  return { text: given };
}
