// The inputs of a campaign change the parameters of a destination that they name, and nothing else of it.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UTM_FIELDS } from "../../../src/events/vocabulary.ts";
import { typedUtm, utmOf, withUtm } from "../../../src/portal/links/utm-fields.ts";

const part = fc
  .tuple(fc.constantFrom("a", "utm_source", "utm%5Fterm", "utm_content", "b[]"), fc.string({ maxLength: 8 }))
  .map(([name, value]) => `${name}=${encodeURIComponent(value)}`);
const url = fc
  .tuple(fc.array(part, { maxLength: 5 }), fc.constantFrom("", "#top", "#?utm_source=x"))
  .map(([parts, end]) => `https://example.com/p${parts.length > 0 ? `?${parts.join("&")}` : ""}${end}`);
const values = fc.record(
  Object.fromEntries(UTM_FIELDS.map((name) => [name, fc.string({ unit: "grapheme", maxLength: 9 })])),
);
const sent = (utm: Record<string, string>) =>
  Object.fromEntries(Object.entries(utm).map(([name, value]) => [`utm_${name}`, value]));

describe("the inputs of a campaign", () => {
  it("leave a destination as it is where they are sent as they were shown, or not at all", () => {
    fc.assert(
      fc.property(url, (given) => {
        expect(withUtm(given, typedUtm(sent(utmOf(given))), utmOf(given))).toBe(given);
        expect(withUtm(given, typedUtm({ title: "a" }), utmOf(given))).toBe(given);
      }),
    );
  });

  it("write what is typed, take out what is emptied, and leave everything else", () => {
    fc.assert(
      fc.property(url, values, (given, typed) => {
        const shown = utmOf(given);
        const after = withUtm(given, typedUtm(sent(typed)), shown);
        expect(utmOf(after)).toEqual(typedUtm(sent(typed)));
        const others = (text: string) =>
          [...new URL(text).searchParams].filter(([name]) => !name.startsWith("utm_"));
        expect(others(after)).toEqual(others(given));
        expect([new URL(after).hash, new URL(after).pathname]).toEqual([new URL(given).hash, "/p"]);
      }),
    );
  });

  it("leave what is no URL to be refused", () => {
    expect(withUtm("nonsense", typedUtm({ utm_source: "a" }), utmOf(""))).toBe("nonsense");
  });
});
