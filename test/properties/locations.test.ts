// Every Location is a URI that strict clients read, and leads where the stored destination does.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { withQueryOf } from "../../src/redirect/rules/forward-query.ts";
import { locationOf } from "../../src/runtime/addresses/location.ts";

const PCHAR = "(?:[A-Za-z0-9._~!$&'()*+,;=:@-]|%[0-9A-Fa-f]{2})";
/** RFC 3986, with brackets in the query, as java.net.URI takes them. */
const URI = new RegExp(
  `^https?://[^/?#{}|^<>"\\s]+(?:/${PCHAR}*)*(?:\\?(?:${PCHAR}|[/?[\\]])*)?(?:#(?:${PCHAR}|[/?[\\]])*)?$`,
);
const part = fc.string({
  unit: fc.oneof(fc.constantFrom(..."{}|^%[]#?&=/\\\"<>`' aé%25"), fc.constantFrom("%7B", "%", "%zz", "ü")),
  maxLength: 20,
});
/** Lone percent signs are made whole, as a reader of the destination takes them for themselves. */
const decoded = (text: string) => decodeURIComponent(text.replace(/%(?![0-9a-f]{2})/gi, "%25"));
const bytes = (text: string) =>
  text.replace(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(parseInt(hex, 16)));

describe("a Location", () => {
  it("is a URI, whatever the destination holds, and leads to the same place", () => {
    fc.assert(
      fc.property(part, part, part, (path, query, fragment) => {
        const url = `https://example.com/${path.replace(/[?#]/g, "")}?${query.replace(/#/g, "")}#${fragment}`;
        const location = locationOf(url);
        expect(location).toMatch(URI);
        expect(locationOf(location)).toBe(location);
        const [was, is] = [new URL(url), new URL(location)];
        for (const name of ["host", "pathname", "search", "hash"] as const)
          expect(bytes(decodedOrSame(is[name]))).toBe(bytes(decodedOrSame(was[name])));
      }),
    );
  });

  it("is a URI, whatever the visitor's query adds", () => {
    fc.assert(
      fc.property(part, fc.constantFrom("destination", "visitor"), (query, winner) => {
        const sent = Buffer.from(query, "utf8").toString("latin1");
        expect(withQueryOf(sent, locationOf("https://example.com/{a}?b=[1]#c"), winner)).toMatch(URI);
      }),
    );
  });

  it.each([
    ["https://example.com/{id}?q={a|b}^c&p=100%", "https://example.com/%7Bid%7D?q=%7Ba%7Cb%7D%5Ec&p=100%25"],
    ["https://example.com/a[1]?b[]=2#c#d", "https://example.com/a%5B1%5D?b[]=2#c%23d"],
    ["https://[2001:db8::1]/%C3%A9?x=%7B", "https://[2001:db8::1]/%C3%A9?x=%7B"],
  ])("of %s is %s", (url, location) => {
    expect(locationOf(url)).toBe(location);
  });
});

function decodedOrSame(text: string): string {
  try {
    return decoded(text);
  } catch {
    return text;
  }
}
