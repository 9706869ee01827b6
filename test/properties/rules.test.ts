// What must hold of rules and forwarded queries whatever a stranger sends: shares, the lot of a day, and headers.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { RawHit } from "../../src/redirect/clicks/hit.ts";
import { conditionsOf, firstRule } from "../../src/redirect/rules/first-rule.ts";
import { withQueryOf } from "../../src/redirect/rules/forward-query.ts";
import { visitReader } from "../../src/redirect/rules/visit.ts";
import { effort } from "../support/runtime/effort.ts";

const DAY = 86_400_000;
const visitOf = visitReader("s".repeat(32));

const hitOf = (hit: Partial<RawHit>): RawHit => ({
  ...{ link: "", at: 20_000 * DAY, method: "GET", query: "", address: "203.0.113.9", country: "" },
  ...{ userAgent: "", referrer: "", language: "", prefetch: "" },
  ...hit,
});
const lotOf = (hit: Partial<RawHit>, link = "localhost/abc") => visitOf(link, hitOf(hit)).lot;
const visitors = Array.from({ length: 10_000 }, (_, number) => ({
  address: `198.51.${number >> 8}.${number & 255}`,
  userAgent: `Browser/${number % 7}`,
}));

describe("the shares of rules", () => {
  const splitOf = (shares: readonly number[], link: string) => {
    const rules = shares.map((share, index) => ({ when: conditionsOf({ share }), index }));
    const split = [...shares.map(() => 0), 0];
    for (const visitor of visitors) {
      const index = firstRule(rules, visitOf(link, hitOf(visitor)))?.index ?? shares.length;
      split[index] = (split[index] ?? 0) + 1;
    }
    return split;
  };

  it("split 10,000 visitors as they say, each beside those before it, and leave the rest", () => {
    const shares = fc.array(fc.integer({ min: 1, max: 60 }), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(shares, fc.stringMatching(/^[a-z]{3,9}$/), (given, slug) => {
        const split = splitOf(given, `localhost/${slug}`);
        let left = 100;
        for (const [index, count] of split.entries()) {
          const wanted = Math.min(left, given[index] ?? left);
          left -= wanted;
          // Five standard deviations: one run of a million is beyond them.
          const deviation = Math.sqrt(visitors.length * (wanted / 100) * (1 - wanted / 100));
          expect(Math.abs(count - visitors.length * (wanted / 100))).toBeLessThanOrEqual(5 * deviation);
        }
      }),
      { numRuns: effort(3, 20) },
    );
  });

  it("counts a share only among those whom the rule's other conditions fit", () => {
    const rules = [
      { when: conditionsOf({ language: ["de"], share: 60 }), name: "de" },
      { when: conditionsOf({ share: 50 }), name: "half" },
    ];
    const names = (language: string) =>
      visitors.map(
        (visitor) => firstRule(rules, visitOf("localhost/abc", hitOf({ ...visitor, language })))?.name,
      );
    const part = (of: (string | undefined)[], name: string | undefined) =>
      of.filter((one) => one === name).length / of.length;
    expect(part(names("de"), "de")).toBeCloseTo(0.6, 1);
    expect(part(names("de"), "half")).toBeCloseTo(0.4, 1);
    expect(part(names("fr"), "de")).toBe(0);
    expect(part(names("fr"), "half")).toBeCloseTo(0.5, 1);
  });
});

describe("a visitor's lot", () => {
  const hits = fc.record({
    address: fc.oneof(fc.ipV4(), fc.ipV6(), fc.string()),
    userAgent: fc.string({ unit: "binary" }),
  });

  it("is in [0, 100), and the same all day and in every process", () => {
    const other = visitReader("s".repeat(32));
    const times = fc.nat({ max: DAY - 1 });
    fc.assert(
      fc.property(hits, times, times, fc.string(), (hit, first, second, query) => {
        const lot = lotOf({ ...hit, at: 20_000 * DAY + first });
        expect(lot).toBeGreaterThanOrEqual(0);
        expect(lot).toBeLessThan(100);
        expect(other("localhost/abc", hitOf({ ...hit, at: 20_000 * DAY + second, query })).lot).toBe(lot);
      }),
      { numRuns: effort(200, 5_000) },
    );
  });

  it("is drawn anew for another day, link, address, browser and service, but not within an IPv6 /64", () => {
    const visitor = { address: "2001:db8:1:2:3:4:5:6", userAgent: "Browser/1" };
    const others = visitReader("t".repeat(32));
    const lots = [
      lotOf(visitor),
      lotOf({ ...visitor, at: 20_001 * DAY }),
      lotOf(visitor, "localhost/abd"),
      lotOf({ ...visitor, address: "2001:db8:1:3:3:4:5:6" }),
      lotOf({ ...visitor, userAgent: "Browser/2" }),
      others("localhost/abc", hitOf(visitor)).lot,
    ];
    expect(new Set(lots).size).toBe(lots.length);
    expect(lotOf({ ...visitor, address: "2001:db8:1:2::1" })).toBe(lots[0]);
    expect(lotOf({ address: "::ffff:203.0.113.9" })).toBe(lotOf({ address: "203.0.113.9" }));
  });
});

describe("a forwarded query", () => {
  const winners = fc.constantFrom("destination" as const, "visitor" as const);
  const bytes = fc
    .oneof(
      fc.string({ unit: fc.nat({ max: 255 }).map((code) => String.fromCharCode(code)) }),
      fc
        .array(
          fc.tuple(
            fc.constantFrom("a", "b", "qr", "%61", "a%5B%5D", "%"),
            fc.constantFrom("", "=", "=1", "=%zz", "=\r\nx: y"),
          ),
        )
        .map((parts) => parts.map((part) => part.join("")).join("&")),
    )
    .map((text) => text.replaceAll("#", ""));
  const destinations = fc
    .tuple(fc.constantFrom("", "?", "??a=own", "?a=own", "?b&b=2&"), fc.constantFrom("", "#", "#top?a=3"))
    .map(([query, fragment]) => `https://example.com/path${query}${fragment}`);

  it("leaves a Location that is printable ASCII, with host, path, own parameters and fragment of the destination", () => {
    fc.assert(
      fc.property(bytes, destinations, winners, (query, destination, winner) => {
        const location = withQueryOf(query, destination, winner);
        expect(location).toMatch(/^[\x21-\x7e]+$/);
        const [joined, own] = [new URL(location), new URL(destination)];
        expect([joined.origin, joined.pathname, joined.hash]).toEqual([own.origin, own.pathname, own.hash]);
        if (winner === "destination")
          for (const name of own.searchParams.keys())
            expect(joined.searchParams.getAll(name)).toEqual(own.searchParams.getAll(name));
      }),
      { numRuns: effort(500, 20_000) },
    );
  });

  it("has what the visitor sent and nothing else of these names, where the visitor's win", () => {
    fc.assert(
      fc.property(bytes, destinations, (query, destination) => {
        const sent = query.replace(/[^ -~]/g, "");
        const wanted = [...new URLSearchParams(`&${sent}`)].filter(
          ([name, value]) => !(name === "qr" && value === "1"),
        );
        const joined = new URL(withQueryOf(sent, destination, "visitor")).searchParams;
        const names = new Set(wanted.map(([name]) => name));
        expect([...joined].filter(([name]) => names.has(name))).toEqual(wanted);
        for (const [name, value] of new URL(destination).searchParams)
          if (!names.has(name)) expect(joined.getAll(name)).toContain(value);
      }),
      { numRuns: effort(500, 20_000) },
    );
  });

  it("brings what the visitor sent, once and in order, but for what is the destination's and the mark of a scan", () => {
    fc.assert(
      fc.property(bytes, destinations, (query, destination) => {
        const own = new URL(destination).searchParams;
        const sent = query.replace(/[^ -~]/g, "");
        const wanted = [...new URLSearchParams(`&${sent}`)].filter(
          ([name, value]) => !own.has(name) && !(name === "qr" && value === "1"),
        );
        const joined = new URL(withQueryOf(sent, destination, "destination")).searchParams;
        expect([...joined].slice(own.size)).toEqual(wanted);
      }),
      { numRuns: effort(500, 20_000) },
    );
  });
});
