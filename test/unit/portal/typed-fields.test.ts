// What a link carries survives being shown in a form and sent back, and whatever is sent is read or refused by its name.

import fc from "fast-check";
import { expect, it } from "vitest";
import { fieldsOf } from "../../../src/commands/links/fields/link-fields.ts";
import { isRefused, type Refused } from "../../../src/commands/refusals.ts";
import { cleanText } from "../../../src/events/classification/clean-text.ts";
import type { LinkOptions, RuleConditions } from "../../../src/events/link-options.ts";
import { DEVICE_TYPES, UTM_FIELDS } from "../../../src/events/vocabulary.ts";
import { linkForm } from "../../../src/portal/links/link-form.ts";
import { planCard } from "../../../src/portal/links/link-plan.ts";
import {
  actOnRules,
  editedFields,
  fieldErrors,
  isLinkField,
  readableFields,
  ruleInput,
  shownFields,
  type TypedFields,
  type TypedRule,
  typedAgain,
  typedFields,
} from "../../../src/portal/links/typed-fields.ts";
import { htmlText } from "../../../src/portal/shell/html.ts";
import { CONDITION_NAMES } from "../../../src/queries/links/rule-sentences.ts";

const NONE = shownFields({});
const eachUtm = <T>(value: T) =>
  Object.fromEntries(UTM_FIELDS.map((name) => [name, value])) as Record<(typeof UTM_FIELDS)[number], T>;
const NO_CAMPAIGN = { utm: eachUtm(""), knownUtm: eachUtm<string[]>([]) };
const DRAFTED = [
  ...["title", "tags", "active_from", "expires_at", "expired_url", "max_clicks", "password", "redirect_code"],
  ...["rules.0.url", "rules.0.name", "rules.0.when.share", "rules.1.url", "rules.1.when.country"],
  ...["rules.1.when.query", "rules.2.when.from", "rules.2.when.language", "rules.7.id"],
];
const optional = { requiredKeys: [] };
/** As the sanitiser leaves it. */
const text = fc
  .string({ unit: "grapheme", minLength: 1, maxLength: 40 })
  .map((typed) => typed.normalize("NFC").trim() || "x");
const word = text.map((one) => one.replaceAll(",", ";"));
const moment = fc
  .date({ min: new Date(0), max: new Date("2999-12-31"), noInvalidDate: true })
  .map((at) => at.toISOString());
const url = fc.webUrl({ withQueryParameters: true });
const conditions = fc
  .record(
    {
      device: fc.subarray([...DEVICE_TYPES], { minLength: 1 }),
      os: fc.subarray(["iOS", "Linux", "Chrome OS"], { minLength: 1 }),
      country: fc.subarray(["DE", "AT"], { minLength: 1 }),
      language: fc.subarray(["pt-br", "de"], { minLength: 1 }),
      query: fc
        .dictionary(
          // No request can have others.
          fc
            .string({ minLength: 1, maxLength: 9 })
            .filter((name) => name !== "__proto__" && cleanText(name, 9) !== ""),
          fc.oneof(
            fc.string({ maxLength: 9 }),
            fc.constantFrom("*", "%2A", "a=b", "50%", "x\ny"),
            fc.constant(true as const),
          ),
          { minKeys: 1, maxKeys: 3, noNullPrototype: true },
        )
        .map((query) => Object.entries(query)),
      from: moment,
      to: moment,
      share: fc.double({ min: 0.01, max: 100, noNaN: true }),
    },
    optional,
  )
  .filter((when) => Object.keys(when).length > 0)
  .filter(({ from = "", to = "~" }) => from < to);
const options: fc.Arbitrary<LinkOptions> = fc.record(
  {
    title: text,
    comments: fc.array(text, { minLength: 1, maxLength: 3 }).map((lines) => lines.join("\n")),
    tags: fc.uniqueArray(word, { minLength: 1, maxLength: 10 }),
    externalId: text,
    activeFrom: moment,
    expiresAt: moment,
    expiredUrl: url,
    maxClicks: fc.integer({ min: 1, max: 1_000_000_000 }),
    redirectCode: fc.constantFrom(301, 302, 307, 308),
    forwardQuery: fc.constantFrom(true as const, "visitor" as const),
    rules: fc.array(fc.record({ when: conditions as fc.Arbitrary<RuleConditions>, url }), {
      minLength: 1,
      maxLength: 4,
    }),
  },
  optional,
);

/** What a browser sends of a form that shows these. */
function sent({ rules = [], removesPassword: _, ...texts }: TypedFields): Record<string, unknown> {
  const body: Record<string, unknown> = {
    ...texts,
  };
  for (const [n, rule] of [
    ...rules,
    Object.fromEntries([...CONDITION_NAMES, "url"].map((name) => [name, ""])),
  ].entries())
    for (const [name, value] of Object.entries(rule))
      body[ruleInput(n, name as "url")] =
        name === "device" ? value.split(", ").filter(Boolean) : value.replaceAll("\n", "\r\n");
  return body;
}

/** Times in one form. */
const comparable = (fields: unknown) =>
  JSON.parse(JSON.stringify(fields), (_, value) =>
    typeof value === "string" && /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{3})?)?Z?$/.test(value)
      ? new Date(value.endsWith("Z") ? value : `${value}Z`).toISOString()
      : value,
  );

it("is changed by no form that is sent as it was shown, and by an empty one as a whole", () => {
  fc.assert(
    fc.property(options, (link) => {
      const shown = shownFields(link);
      const typed = typedFields(sent(shown));
      expect(editedFields(typed, shown)).toEqual({});
      expect(comparable(editedFields(typed, NONE))).toEqual(comparable(fieldsOf(link)));
      const cleared = editedFields(typedFields(sent(NONE)), shown);
      expect(Object.keys(cleared).sort()).toEqual(Object.keys(fieldsOf(link)).sort());
      expect(new Set(Object.values(cleared))).toEqual(new Set(Object.keys(cleared).length > 0 ? [null] : []));
    }),
  );
});

it("keeps what was typed, and shows as it is now what was not", () => {
  fc.assert(
    fc.property(options, options, options, (before, now, mine) => {
      const [was, is, typed] = [before, now, mine].map(shownFields) as [
        TypedFields,
        TypedFields,
        TypedFields,
      ];
      const again = typedAgain(typed, was, is);
      for (const name of Object.keys(NONE) as (keyof TypedFields)[]) {
        const isUntouched = JSON.stringify(typed[name]) === JSON.stringify(was[name]);
        expect(again[name]).toEqual(isUntouched ? is[name] : typed[name]);
      }
    }),
  );
});

it("is read or refused by the name of an input, whatever is sent", () => {
  const name = fc.oneof(
    fc.constantFrom(...Object.keys(NONE), "remove_password", "__proto__", "rules", "rules.0", "rules.1.when"),
    fc
      .tuple(fc.nat(120), fc.constantFrom(...CONDITION_NAMES, "url" as const))
      .map(([n, one]) => ruleInput(n, one)),
    fc.string(),
  );
  const value = fc.oneof(
    fc.string({ maxLength: 300 }),
    fc.constantFrom(
      "0",
      "301",
      "1e3",
      "-1",
      "2026-01-31",
      "a=b\nc",
      ",",
      "javascript:x",
      "%",
      "<b>",
      "mobile",
    ),
    fc.array(fc.string(), { maxLength: 3 }),
  );
  fc.assert(
    fc.property(fc.array(fc.tuple(name, value), { maxLength: 40 }), (pairs) => {
      const body = Object.fromEntries(pairs);
      const typed = typedFields(body);
      try {
        editedFields(typed, NONE);
      } catch (error) {
        expect(isRefused(error, "invalid_request")).toBe(true);
        const { field, message } = error as Refused;
        expect([field, isLinkField(field)]).toEqual([field, true]);
        const errors = fieldErrors({ action: "", error, field, message, status: 400, typed: body }, NONE);
        const planned = readableFields(typed);
        const page = htmlText(
          linkForm({
            ...{ action: "/edit", draft: "/draft", hidden: {}, button: "Save", tier: "developer" },
            ...{ url: "", typed, planned, errors, ...NO_CAMPAIGN },
          }),
        );
        expect(page).toContain("-error");
        expect(page).not.toMatch(/<b>|<script/);
      }
    }),
  );
});

it("reads what is typed as far as it would be taken, and plans it without a script in it", () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.constantFrom(...DRAFTED), fc.string({ maxLength: 12 })), { maxLength: 12 }),
      (pairs) => {
        const typed = typedFields(Object.fromEntries(pairs), true);
        const fields = readableFields(typed);
        expect(fields.rules?.length ?? 0).toBe(typed.rules?.length ?? 0);
        const plan = planCard({ title: "T", shortName: "s", longUrl: typed.title ?? "", fields, now: 0 });
        expect(htmlText(plan)).not.toMatch(/<b>|<script|href="(?!https?:|\/portal)/);
      },
    ),
  );
});

it("has rules that buttons add, move and remove, of which none is lost or doubled", () => {
  const rules = fc
    .array(fc.stringMatching(/^[a-z]{1,5}$/), { maxLength: 20 })
    .map((names) =>
      names.map((name) => ({ ...(typedFields({ "rules.0.name": name }).rules?.[0] as TypedRule) })),
    );
  const act = fc.oneof(
    fc.tuple(fc.constantFrom("up", "down", "remove"), fc.nat({ max: 25 })).map((parts) => parts.join(".")),
    fc.constantFrom("add", "show", "", "up.", "remove.-1", "up.1e1", "constructor.0"),
  );
  fc.assert(
    fc.property(rules, act, (before, given) => {
      const { rules: after, at } = actOnRules(before, given);
      const [name = "", place = ""] = given.split(".");
      const isThere = /^\d+$/.test(place) && before[Number(place)] !== undefined;
      if (given === "add") expect([after.slice(0, -1), at]).toEqual([before, before.length]);
      else if (!isThere || !["up", "down", "remove"].includes(name))
        expect([after, at]).toEqual([before, undefined]);
      else if (name === "remove") expect(after).toEqual(before.filter((_, n) => n !== Number(place)));
      else {
        expect(after[at as number]).toBe(before[Number(place)]);
        expect(new Set(after)).toEqual(new Set(before));
        expect(Math.abs((at as number) - Number(place))).toBeLessThanOrEqual(1);
      }
    }),
  );
});

it("refuses a condition by a name that no rule can hold", () => {
  const typed = typedFields({
    "rules.0.when.query": "__proto__=a\nb=c",
    "rules.0.url": "https://example.com/",
  });
  expect(() => editedFields(typed, NONE)).toThrow("It must not name __proto__.");
});
