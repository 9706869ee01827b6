// Any bytes in any header still make a valid event without a whole address in it.
import { createRequire } from "node:module";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { classify, isQrScan } from "../../../src/classification/classify.ts";
import { classifiedNow } from "../../../src/classification/reclassify.ts";
import { eventsOf } from "../../../src/event-store/event-columns.ts";
import type { LinkClicked } from "../../../src/events/catalogue.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { ClickColumns } from "../../../src/redirect/clicks/click-columns.ts";
import { enricher } from "../../../src/redirect/clicks/click-event.ts";
import { geoOf } from "../../../src/redirect/clicks/enrich/geo.ts";
import {
  addHit,
  emptyBatch,
  hitsOf,
  type LinkTarget,
  packTarget,
  type RawHit,
} from "../../../src/redirect/clicks/hit.ts";
import { visitorCodes } from "../../../src/redirect/clicks/visitors/visitor.ts";
import { anyText } from "../../support/runtime/any-text.ts";

const link = {
  key: "localhost/abcdefg",
  slug: "abcdefg",
  revision: 0,
  shortUrl: "http://localhost:3000/abcdefg",
  longUrl: "https://example.com/?utm_source=long&utm_medium=mail",
  accountId: "7a6f3c1e-52b1-4f0e-9a54-2f6c1d7b8e90",
  via: "api",
} as const;
const bytes = fc.oneof(anyText(700), fc.string({ unit: "grapheme", maxLength: 700 }));
const anyHit = fc.record({
  link: fc.constant(link),
  at: fc.integer({ min: 0, max: 4e12 }),
  method: fc.constantFrom("GET" as const, "HEAD" as const),
  query: fc.oneof(
    bytes,
    bytes.map((text) => `utm_source=${text}&qr=1`),
  ),
  address: fc.oneof(bytes, fc.ipV4(), fc.ipV6()),
  userAgent: bytes,
  referrer: fc.oneof(
    bytes,
    fc.webUrl({ withQueryParameters: true }),
    bytes.map((text) => `https://${text}`),
  ),
  language: bytes,
  prefetch: bytes,
});
const enrich = enricher(geoOf(undefined, undefined));
const visitorOf = visitorCodes(new Uint8Array(32));
type SampledHit = Omit<RawHit, "link"> & { link: LinkTarget };
/** The event that the recorder writes for the hit. */
function clickOf(hit: SampledHit): LinkClicked {
  const columns = new ClickColumns("0123456789");
  const enriched = enrich({ ...hit, link: packTarget(hit.link) });
  const codeOf = (of: string) => visitorOf({ address: hit.address, userAgent: enriched.agent.userAgent, of });
  const [visitor, accountVisitor] = [codeOf(hit.link.key), codeOf(hit.link.accountId)];
  columns.add(hit.at, 1, enriched, { visitor, accountVisitor });
  return eventsOf(columns.columns())[0] as unknown as LinkClicked;
}
const origin = { correlationId: "r", causationId: "r", actor: { type: "system", id: "redirect" } } as const;

describe("a click event", () => {
  it("satisfies the LinkClicked schema whatever the bytes, and never holds the address", () => {
    fc.assert(
      fc.property(anyHit, (hit) => {
        const { data } = clickOf(hit);
        newEvent({ type: "LinkClicked", data }, "id", origin);
        expect(data.userAgent.length).toBeLessThanOrEqual(512);
        expect(data.referrer.length).toBeLessThanOrEqual(512);
        expect(JSON.stringify(data)).toBe(JSON.stringify(data).toWellFormed());
        expect(data.ip).toMatch(/^$|\.0$|::$/);
      }),
      { numRuns: 400 },
    );
  });

  it("has no control characters, and nothing that turns the direction of a text", () => {
    const turned = "a\u202eb\u2066c\u001b[2Jd";
    const headers = {
      userAgent: turned,
      referrer: `https://example.org/${turned}`,
      prefetch: turned,
      language: turned,
    };
    const query = `utm_source=${encodeURIComponent(turned)}`;
    const { data } = clickOf({ link, at: 0, method: "GET", query, address: "", ...headers });
    expect(data).toMatchObject({
      userAgent: "a b c [2Jd",
      prefetch: "a b c [2Jd",
      utm: { source: "a b c [2Jd" },
    });
    expect(JSON.stringify(data)).not.toMatch(/\\u001b|[\u202a-\u202e\u2066-\u2069]/);
  });

  it("is classified again as it was, from the facts in it", () => {
    const agents = fc.constantFrom(
      "",
      "curl/8.0",
      "Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0",
      "  Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) Version/17.5 Mobile/15E148 Safari/604.1\u0000",
    );
    const referrers = fc.constantFrom(
      "",
      "https://www.Example.org./a?b#c",
      "android-app://com.example/x",
      "ftp://x/",
    );
    const likely = fc.record({
      hit: anyHit,
      userAgent: fc.option(agents),
      referrer: fc.option(referrers),
      query: fc.constantFrom("", "qr=1"),
      prefetch: fc.constantFrom("", "prefetch", "preview"),
    });
    fc.assert(
      fc.property(likely, ({ hit, userAgent, referrer, ...more }) => {
        const own = { ...(userAgent !== null && { userAgent }), ...(referrer !== null && { referrer }) };
        const { data } = clickOf({ ...hit, ...more, ...own });
        const { kind, device, browser, os, referrerHost } = data;
        const classified = { kind, device, browser, os, referrerHost };
        expect(classifiedNow({ data, stream: "clicks-a-20260301" })).toEqual(classified);
        const { method, prefetch } = data;
        const facts = { method, prefetch, userAgent: data.userAgent, referrer: data.referrer };
        expect(classify({ ...facts, isScan: isQrScan(more.query) })).toEqual(classified);
      }),
      { numRuns: 400 },
    );
  });

  it("names the version of isbot that is installed, beside the version of our own rules", () => {
    const { version } = createRequire(import.meta.url)("isbot/package.json") as { version: string };
    const hit = fc.sample(anyHit, 1)[0];
    if (hit === undefined) throw new Error("no hit");
    expect(clickOf(hit).data).toMatchObject({ rules: 2, botList: `isbot@${version}` });
  });

  it("takes each utm field from the short URL's query first, else from the long URL's", () => {
    const hit = {
      link,
      at: 0,
      method: "GET" as const,
      query: "utm_source=short&utm_term=t",
      address: "",
      userAgent: "",
      referrer: "",
      language: "",
      prefetch: "",
    };
    expect(clickOf(hit).data.utm).toEqual({ source: "short", medium: "mail", term: "t" });
  });

  it("tells a visitor apart by link and by account, and the two codes are not each other's", () => {
    const hit = {
      link,
      at: 0,
      method: "GET" as const,
      query: "",
      address: "203.0.113.7",
      userAgent: "Mozilla/5.0",
    };
    const rest = { referrer: "", language: "", prefetch: "" };
    const codes = (target: { key?: string; accountId?: string }, address = hit.address) => {
      const { data } = clickOf({ ...hit, ...rest, address, link: { ...link, ...target } });
      return { visitor: data.visitor, accountVisitor: data.accountVisitor };
    };
    const first = codes({});
    expect(first.accountVisitor).toMatch(/^[0-9a-f]{16}$/);
    expect(first.accountVisitor).not.toBe(first.visitor);
    const otherLink = codes({ key: "localhost/other" });
    expect(otherLink.accountVisitor).toBe(first.accountVisitor);
    expect(otherLink.visitor).not.toBe(first.visitor);
    const otherAccount = codes({ accountId: "00000000-52b1-4f0e-9a54-2f6c1d7b8e90" });
    expect(otherAccount.visitor).toBe(first.visitor);
    expect(otherAccount.accountVisitor).not.toBe(first.accountVisitor);
    expect(codes({}, "203.0.113.8").accountVisitor).not.toBe(first.accountVisitor);
  });

  it("crosses to the recorder thread unchanged", () => {
    fc.assert(
      fc.property(fc.array(anyHit, { maxLength: 20 }), (hits) => {
        const batch = emptyBatch(1, 0);
        const packed = hits.map((hit) => ({ ...hit, link: packTarget(hit.link) }));
        for (const hit of packed) addHit(batch, hit);
        expect(hitsOf(structuredClone(batch)).map(({ hit }) => hit)).toEqual(packed);
      }),
      { numRuns: 50 },
    );
  });
});
