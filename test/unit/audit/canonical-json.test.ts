// Canonical JSON as RFC 8785 defines it, with the examples of its text.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalJson } from "../../../src/audit/canonical-json.ts";

describe("canonical JSON", () => {
  it("is that of the RFC's first example (section 3.2.2 and 3.2.4)", () => {
    const given = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`);
    expect(canonicalJson(given)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    );
  });

  it("sorts names by their UTF-16 code units (section 3.2.3)", () => {
    const names = ["\u20ac", "\r", "\ufb33", "1", "\ud83d\ude00", "\u0080", "\u00f6"];
    const text = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])));
    const sorted = ["\r", "1", "\u0080", "\u00f6", "\u20ac", "\ud83d\ude00", "\ufb33"];
    expect(Object.keys(JSON.parse(text))).toEqual(["1", ...sorted.filter((name) => name !== "1")]);
    expect([...text.matchAll(/"((?:[^"\\]|\\.)+)":/g)].map(([, name]) => JSON.parse(`"${name}"`))).toEqual(
      sorted,
    );
  });

  it("of any value parses to it, and is the same for every order of members", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const plain = JSON.parse(JSON.stringify(value));
        expect(JSON.parse(canonicalJson(plain))).toEqual(plain);
        expect(canonicalJson(reversed(plain))).toBe(canonicalJson(plain));
      }),
      { numRuns: 300 },
    );
  });

  it("leaves out members that are undefined", () => {
    expect(canonicalJson({ b: undefined, a: { c: undefined } })).toBe('{"a":{}}');
  });
});

function reversed(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(reversed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .reverse()
      .map(([name, member]) => [name, reversed(member)]),
  );
}
