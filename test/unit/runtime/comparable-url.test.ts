// Addresses are compared as RFC 3986, 6.2.2 says, whatever spelling of them people, browsers and programs use.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { comparableUrl } from "../../../src/runtime/addresses/comparable-url.ts";

const RESERVED = "!$&'()*+,;=:@";

/** Parts of an address and ways of writing each of its characters. */
const character = fc.constantFrom(..."aZ9-._~", ...'üł例😀 "<>{}|^`%', ...RESERVED);
const spelling = fc.constantFrom(
  (c: string) => (/[%#?/\\&=+]/.test(c) ? encodeURIComponent(c) : c),
  (c: string) => encodeURIComponent(c),
  (c: string) => lowerCodes(encodeURIComponent(c)),
  // A code for what needs none, but for what means something else as a code.
  (c: string) => (RESERVED.includes(c) ? c : codesOf(c)),
  (c: string) => (RESERVED.includes(c) ? c : lowerCodes(codesOf(c))),
);
const plain = (c: string) => (RESERVED.includes(c) ? c : encodeURIComponent(c));
const spelt = fc.array(fc.tuple(character, spelling), { maxLength: 12 });

function codesOf(character: string): string {
  return [...new TextEncoder().encode(character)]
    .map((byte) => `%${byte.toString(16).padStart(2, "0").toUpperCase()}`)
    .join("");
}

function lowerCodes(text: string): string {
  return text.replace(/%../g, (code) => code.toLowerCase());
}

/** Reserved characters stay as they are; percent codes of them would be another address. */
function write(parts: readonly (readonly [string, (c: string) => string])[]): string {
  return parts.map(([c, spell]) => (RESERVED.includes(c) ? c : spell(c))).join("");
}

describe("the same address", () => {
  it("is equal in any mixture of spellings", () => {
    const hosts = fc.constantFrom(
      "https://Müller.example:443",
      "https://xn--mller-kva.example",
      "HTTPS://MÜLLER.EXAMPLE",
    );
    fc.assert(
      fc.property(hosts, spelt, spelt, (host, path, query) => {
        const ours = `${host}/x${write(path)}?q${write(query)}z`;
        const other = `https://müller.example/x${path.map(([c]) => plain(c)).join("")}?q${query.map(([c]) => plain(c)).join("")}z`;
        expect(comparableUrl(ours)).toBe(comparableUrl(other));
        expect(comparableUrl(comparableUrl(ours))).toBe(comparableUrl(ours));
      }),
    );
  });

  it.each([
    ["https://x.example/%c3%bc", "https://x.example/ü"],
    ["https://x.example/~a", "https://x.example/%7Ea"],
    ["https://x.example", "https://X.EXAMPLE:443/"],
    ["https://x.example/a/../b", "https://x.example/b"],
    ["https://x.example/a[1]", "https://x.example/a%5B1%5D"],
  ])("%s is %s", (one, other) => {
    expect(comparableUrl(one)).toBe(comparableUrl(other));
  });

  it.each([
    ["https://x.example/a%2Fb", "https://x.example/a/b"],
    ["https://x.example/?a%26b", "https://x.example/?a&b"],
    ["https://x.example/A", "https://x.example/a"],
    ["https://x.example/?q=a+b", "https://x.example/?q=a%20b"],
    ["http://x.example/", "https://x.example/"],
  ])("%s is not %s", (one, other) => {
    expect(comparableUrl(one)).not.toBe(comparableUrl(other));
  });
});
