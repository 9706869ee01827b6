// Which rule leads a visit, as a table, and how the visitor's query joins a destination.

import { describe, expect, it } from "vitest";
import type { LinkRule, RuleConditions } from "../../../src/events/link-options.ts";
import type { RawHit } from "../../../src/redirect/clicks/hit.ts";
import { conditionsOf, firstRule } from "../../../src/redirect/rules/first-rule.ts";
import { withQueryOf } from "../../../src/redirect/rules/forward-query.ts";
import { visitReader } from "../../../src/redirect/rules/visit.ts";
import { stretched } from "../../support/runtime/slowness.ts";

const SAFARI =
  "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Safari/605.1.15";
const IPHONE =
  "Mozilla/5.0 (iPhone; CPU iPhone OS 17_4 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.4 Mobile/15E148 Safari/604.1";
const PIXEL =
  "Mozilla/5.0 (Linux; Android 14; Pixel 8) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/124.0.0.0 Mobile Safari/537.36";
const UBUNTU = "Mozilla/5.0 (X11; Ubuntu; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
const CHROMEBOOK =
  "Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36";
const HARMONY =
  "Mozilla/5.0 (Linux; Android 10; HarmonyOS; ELS-AN00) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/99.0.4844.88 HuaweiBrowser/12.1.0 Mobile Safari/537.36";
const at = Date.parse("2026-05-01T12:00:00Z");

const visitOf = visitReader("s".repeat(32));
const plain: RawHit = {
  ...{ link: "", at, method: "GET", query: "", address: "198.51.100.7", country: "" },
  ...{ userAgent: "", referrer: "", language: "", prefetch: "" },
};
const chosen = (hit: Partial<RawHit>, ...rules: RuleConditions[]) => {
  const all = rules.map((when, index) => ({ when: conditionsOf(when), number: index + 1 }));
  return firstRule(all, visitOf("localhost/abc", { ...plain, ...hit }))?.number;
};

describe("a rule", () => {
  it.each<[Partial<RawHit>, RuleConditions, boolean]>([
    [{ userAgent: IPHONE }, { device: ["mobile"] }, true],
    [{ userAgent: IPHONE }, { device: ["desktop", "tablet"] }, false],
    [{ userAgent: "curl/8.5.0" }, { device: ["bot"] }, true],
    [{}, { device: ["desktop"] }, false],
    [{ userAgent: IPHONE }, { os: ["iOS"] }, true],
    [{ userAgent: IPHONE }, { os: ["IOS"] }, true],
    [{ userAgent: PIXEL }, { os: ["iOS", "android"] }, true],
    [{ userAgent: SAFARI }, { os: ["macOS"] }, true],
    [{ userAgent: SAFARI }, { os: ["Mac OS"] }, true],
    [{ userAgent: SAFARI }, { os: ["iOS"] }, false],
    [{ userAgent: UBUNTU }, { os: ["Linux"] }, true],
    [{ userAgent: UBUNTU }, { os: ["Ubuntu"] }, true],
    [{ userAgent: CHROMEBOOK }, { os: ["chrome os"] }, true],
    [{ userAgent: HARMONY }, { os: ["Android"] }, true],
    [{}, { os: ["unknown"] }, true],
    [{ country: "DE" }, { country: ["AT", "DE"] }, true],
    [{ country: "AT" }, { country: ["DE"] }, false],
    [{}, { country: ["DE"] }, false],
    [{ language: "de-AT,de;q=0.9,en;q=0.1" }, { language: ["de"] }, true],
    [{ language: "pt-BR" }, { language: ["pt-br"] }, true],
    [{ language: "pt" }, { language: ["pt-br"] }, false],
    [{ language: "des" }, { language: ["de"] }, false],
    [{ language: "iw-IL" }, { language: ["he"] }, true],
    [{ language: "en;q=0.1,de" }, { language: ["en"] }, false],
    [{}, { language: ["en"] }, false],
    [{ query: "ref=shop&x" }, { query: [["ref", "shop"]] }, true],
    [{ query: "ref=sh%6Fp" }, { query: [["ref", "shop"]] }, true],
    [{ query: "ref=a&ref=shop" }, { query: [["ref", "shop"]] }, true],
    [{ query: "ref=Shop" }, { query: [["ref", "shop"]] }, false],
    [{ query: "beta" }, { query: [["beta", true]] }, true],
    [
      { query: "ref=shop" },
      {
        query: [
          ["ref", "shop"],
          ["beta", true],
        ],
      },
      false,
    ],
    [{ at }, { from: "2026-05-01T12:00:00.000Z" }, true],
    [{ at: at - 1 }, { from: "2026-05-01T12:00:00.000Z" }, false],
    [{ at: at - 1 }, { to: "2026-05-01T12:00:00.000Z" }, true],
    [{ at }, { to: "2026-05-01T12:00:00.000Z" }, false],
    [{ userAgent: IPHONE, language: "de" }, { os: ["iOS"], language: ["de"] }, true],
    [{ userAgent: IPHONE, language: "fr" }, { os: ["iOS"], language: ["de"] }, false],
    [{}, { share: 100 }, true],
  ])("%j fits %j: %s", (hit, when, fits) => {
    expect(chosen(hit, when)).toBe(fits ? 1 : undefined);
  });

  it("needs the country of an address only where all else has not decided, and no proxy has named it", () => {
    const conditions: LinkRule["when"][] = [{ os: ["iOS"] }, { query: [["a", true]], country: ["DE"] }];
    const rules = conditions.map((when) => ({
      when: conditionsOf(when),
    }));
    const needs = (hit: Partial<RawHit>) => {
      const visit = visitOf("localhost/abc", { ...plain, ...hit });
      firstRule(rules, visit);
      return visit.needsCountry;
    };
    expect([needs({ query: "a" }), needs({}), needs({ query: "a", userAgent: IPHONE })]).toEqual([
      true,
      false,
      false,
    ]);
    expect(needs({ query: "a", country: "DE" })).toBe(false);
  });

  it("wins only if none before it fits", () => {
    const rules: LinkRule["when"][] = [{ os: ["iOS"] }, { device: ["mobile"] }, { query: [["a", true]] }];
    expect(chosen({ userAgent: IPHONE }, ...rules)).toBe(1);
    expect(chosen({ userAgent: PIXEL, query: "a" }, ...rules)).toBe(2);
    expect(chosen({ userAgent: SAFARI, query: "a" }, ...rules)).toBe(3);
    expect(chosen({ userAgent: SAFARI }, ...rules)).toBeUndefined();
  });
});

describe("a visit with thousands of parameters", () => {
  const names = Array.from({ length: 20 }, (_, rule) =>
    Array.from({ length: 50 }, (_, n) => `r${rule}n${n}`),
  );
  const rules = names.map((of): LinkRule["when"] => ({ query: of.map((name) => [name, true]) }));
  const query = "a&".repeat(7_000);

  it("is read as far as its first two hundred", () => {
    expect(chosen({ query: `${"a&".repeat(199)}b=1` }, { query: [["b", "1"]] })).toBe(1);
    expect(chosen({ query: `${"a&".repeat(200)}b=1` }, { query: [["b", "1"]] })).toBeUndefined();
  });

  it("costs the thread of everybody's redirects a millisecond at most, forwarded or by twenty rules of fifty names", () => {
    const all = rules.map((when) => ({ when: conditionsOf(when) }));
    const led = msOf(() => firstRule(all, visitOf("localhost/abc", { ...plain, query })));
    const forwarded = msOf(() => withQueryOf(query, "https://example.com/?b=1", "visitor"));
    expect([led < stretched(1), forwarded < stretched(1)], `${led} ms, ${forwarded} ms`).toEqual([
      true,
      true,
    ]);
  });

  /** The shortest of many, which the compiler and other programs have not held up. */
  function msOf(work: () => unknown): number {
    const times = Array.from({ length: 200 }, () => {
      const began = performance.now();
      work();
      return performance.now() - began;
    });
    return Math.min(...times);
  }
});

describe("the visitor's query", () => {
  it.each([
    ["", "https://example.com/#top", "https://example.com/#top"],
    ["a=1", "https://example.com/?#top", "https://example.com/?a=1#top"],
    ["a=1", "https://example.com/?b=2&", "https://example.com/?b=2&a=1"],
    ["a=1&b=9&b=8&c", "https://example.com/?b=2", "https://example.com/?b=2&a=1&c"],
    ["a+b=9&x=1", "https://example.com/?a%20b=2", "https://example.com/?a%20b=2&x=1"],
    ["&&qr=1&a=1&&", "https://example.com/", "https://example.com/?a=1"],
    ["a=%ZZ&%=%&b=%E9", "https://example.com/", "https://example.com/?a=%25ZZ&%25=%25&b=%E9"],
    ["a=\u00e9 \r\nSet-Cookie:x", "https://example.com/", "https://example.com/?a=%E9%20%0D%0ASet-Cookie:x"],
    ["a=1#b=2", "https://example.com/#top", "https://example.com/?a=1#top"],
  ])("%j joins %s: %s", (query, destination, joined) => {
    expect(withQueryOf(query, destination, "destination")).toBe(joined);
  });

  it.each([
    ["a=2&a=3", "https://example.com/?a=1&b=1&a=9#top", "https://example.com/?b=1&a=2&a=3#top"],
    ["c=3", "https://example.com/?a=1&", "https://example.com/?a=1&c=3"],
    ["qr=1&c=3", "https://example.com/?qr=own", "https://example.com/?qr=own&c=3"],
  ])("%j wins over %s: %s", (query, destination, joined) => {
    expect(withQueryOf(query, destination, "visitor")).toBe(joined);
  });
});
