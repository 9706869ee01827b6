// Any bytes in any header still make a valid event without a whole address in it.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { LinkClicked } from "../../../src/events/catalogue.ts";
import { classify, isQrScan, PRESENT_RULES } from "../../../src/events/classification/classify.ts";
import { classifiedNow } from "../../../src/events/classification/reclassify.ts";
import { clickFacts } from "../../../src/events/click-facts.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { clickReader } from "../../../src/redirect/clicks/click-event.ts";
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
  revision: 0,
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
  country: fc.constantFrom("", "DE", "US"),
  userAgent: bytes,
  referrer: fc.oneof(
    bytes,
    fc.webUrl({ withQueryParameters: true }),
    bytes.map((text) => `https://${text}`),
  ),
  language: bytes,
  prefetch: bytes,
});
/** A request with no headers. */
const bareHit = {
  link,
  at: 0,
  method: "GET" as const,
  query: "",
  address: "",
  country: "",
  userAgent: "",
  referrer: "",
  language: "",
  prefetch: "",
};
const readClick = clickReader(geoOf(undefined, undefined));
const visitorOf = visitorCodes(new Uint8Array(32));
type SampledHit = Omit<RawHit, "link"> & { link: LinkTarget };
/** The event that the recorder writes for the hit. */
function clickOf(hit: SampledHit): LinkClicked {
  return readClick({ ...hit, link: packTarget(hit.link) }, visitorOf);
}
/** All texts in it, at every depth, but those of device and referrer. */
function textsOf({ device: _, referrer: _referrer, ...data }: LinkClicked["data"]): unknown[] {
  const parts: unknown[] = Object.values(data).flatMap((value) =>
    typeof value === "object" ? Object.values(value) : value,
  );
  return parts.filter((value) => typeof value === "string");
}

describe("a click event", () => {
  it("satisfies the LinkClicked schema whatever the bytes, names the rules it is classified by, and never holds the address", () => {
    fc.assert(
      fc.property(anyHit, (hit) => {
        const { data } = clickOf(hit);
        newEvent({ type: "LinkClicked", data }, "id");
        expect(data.userAgent?.length ?? 0).toBeLessThanOrEqual(512);
        expect(data.referrer?.length ?? 0).toBeLessThanOrEqual(512);
        expect(JSON.stringify(data)).toBe(JSON.stringify(data).toWellFormed());
        expect(data.ip ?? "::").toMatch(/\.0$|::$/);
        expect(data.rules).toBe(PRESENT_RULES);
      }),
      { numRuns: 400 },
    );
  });

  it("says each thing once: what was not sent or not recognised is absent, and JSON keeps all of it", () => {
    fc.assert(
      fc.property(anyHit, (hit) => {
        const { data } = clickOf(hit);
        expect(textsOf(data)).not.toContain("");
        expect(textsOf(data)).not.toContain("unknown");
        expect(data.referrer).not.toBe("");
        expect(clickFacts(JSON.parse(JSON.stringify(data)))).toEqual(clickFacts(data));
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
    const { data } = clickOf({ ...bareHit, query, ...headers });
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
        const { kind, device, browser, os } = data;
        const classified = { kind, device, browser, os };
        expect(classifiedNow({ data, stream: "clicks-a-20260301" })).toEqual(classified);
        const { method, prefetch, userAgent: agent } = clickFacts(data);
        const isScan = isQrScan(more.query);
        expect(classify({ method, prefetch, userAgent: agent, isScan })).toEqual(classified);
      }),
      { numRuns: 400 },
    );
  });

  it("takes each utm field from the short URL's query first, else from the long URL's", () => {
    expect(clickOf({ ...bareHit, query: "utm_source=short&utm_term=t" }).data.utm).toEqual({
      source: "short",
      medium: "mail",
      term: "t",
    });
  });

  it("tells a visitor apart by link and by account, and the two codes are not each other's", () => {
    const hit = { ...bareHit, address: "203.0.113.7", userAgent: "Mozilla/5.0" };
    const codes = (target: { key?: string; accountId?: string }, address = hit.address) => {
      const { data } = clickOf({ ...hit, address, link: { ...link, ...target } });
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

  it.each([
    ["", { country: "DE", region: "Berlin", city: "Berlin" }],
    ["DE", { country: "DE", region: "Berlin", city: "Berlin" }],
    ["FR", { country: "FR" }],
  ])("has the country that the proxy names, '%s', and a city only in that country", (country, place) => {
    const berlin = { country: "DE", region: "Berlin", city: "Berlin" };
    const read = clickReader({ locate: () => berlin });
    const { data } = read({ ...bareHit, address: "203.0.113.7", country, link: packTarget(link) }, visitorOf);
    expect({ country: data.country, region: data.region, city: data.city }).toEqual(place);
  });

  it("crosses to the writer thread unchanged", () => {
    fc.assert(
      fc.property(fc.array(anyHit, { maxLength: 20 }), (hits) => {
        const batch = emptyBatch(0);
        const packed = hits.map((hit) => ({ ...hit, link: packTarget(hit.link) }));
        for (const hit of packed) addHit(batch, hit);
        expect(hitsOf(structuredClone(batch)).map(({ hit }) => hit)).toEqual(packed);
      }),
      { numRuns: 50 },
    );
  });
});
