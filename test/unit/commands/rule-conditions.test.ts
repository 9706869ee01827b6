// Conditions that no visit can ever fit are refused, with what is right.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { acceptedRules, rulesSchema } from "../../../src/commands/links/fields/rule-fields.ts";
import { primaryLanguage } from "../../../src/redirect/clicks/enrich/language.ts";
import { conditionsOf, firstRule } from "../../../src/redirect/rules/first-rule.ts";

const refusalOf = (when: object) =>
  rulesSchema.safeParse([{ when, url: "https://example.com/" }]).error?.issues[0]?.message;
const [EARLY, LATE] = ["2026-01-01T00:00:00Z", "2026-02-01T01:00:00+01:00"];

describe("a condition that can never fit", () => {
  it.each([
    [{ language: "english" }, "english is no language tag, but en is"],
    [{ language: "German" }, "German is no language tag, but de is"],
    [{ language: ["de", "iw"] }, "iw is written he"],
    [{ language: "deu" }, "deu is written de"],
    [{ language: "en-UK" }, "en-UK is written en-GB"],
    [{ language: "xx" }, "xx is no language tag"],
    [{ language: "de-XX" }, "de-XX is no language tag"],
    [{ language: "en_GB" }, "en_GB is no language tag"],
    [{ language: "und-DE" }, "und-DE is no language tag"],
    [{ language: "a-".repeat(5_000) }, "is no language tag"],
    [{ from: LATE, to: EARLY }, "must be after from"],
    [{ from: LATE, to: "2026-02-01T00:00:00Z" }, "must be after from"],
  ])("is refused: %j", (when, why) => {
    expect(refusalOf(when)).toContain(why);
  });

  it.each([
    { language: "de" },
    { language: ["pt-BR", "zh-Hant-TW", "es-419", "gsw", "nb"] },
    { from: EARLY, to: LATE },
    { from: LATE },
  ])("is none of these: %j", (when) => {
    expect(refusalOf(when)).toBeUndefined();
  });

  const subtag = fc.oneof(
    fc.constantFrom("de", "und", "iw", "zh", "Hant", "419", "GB", "UK", "x", "i", "mul", "u", "ca", "1996"),
    fc.stringMatching(/^[A-Za-z0-9]{0,9}$/),
  );
  const tag = fc
    .tuple(fc.array(subtag, { minLength: 1, maxLength: 4 }), fc.constantFrom("-", "_", " "))
    .map(([parts, between]) => parts.join(between));

  it("is no language that is taken: whoever's browser sends it is led by its rule", async () => {
    await fc.assert(
      fc.asyncProperty(tag, async (language) => {
        const { data } = rulesSchema.safeParse([{ when: { language }, url: "https://example.com/" }]);
        const rules = await acceptedRules(data ?? [], async (url) => url);
        const visit = {
          at: 0,
          device: "mobile",
          os: "",
          country: "",
          parameters: new Map(),
          lot: 0,
        } as const;
        const sent = { ...visit, language: primaryLanguage(`${language}, en;q=0.1`) };
        for (const { when } of rules) expect(firstRule([{ when: conditionsOf(when) }], sent)).toBeDefined();
      }),
    );
  });
});
