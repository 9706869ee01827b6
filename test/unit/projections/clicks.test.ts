// The click projections: totals, breakdowns, days and recent clicks of given events.
import { describe, expect, it } from "vitest";
import type { Breakdown } from "../../../src/projections/definitions/breakdown.ts";
import { DIMENSIONS, type Dimension } from "../../../src/projections/definitions/click-dimensions.ts";
import { accountDays } from "../../../src/projections/definitions/days/account-day.ts";
import { linkDays } from "../../../src/projections/definitions/days/link-day.ts";
import { linkClicks } from "../../../src/projections/definitions/link-clicks.ts";
import { recentClick } from "../../../src/projections/definitions/recent-clicks.ts";
import { countOne, OTHER, type Tally, valueCounts } from "../../../src/projections/definitions/tally.ts";
import type { Projection } from "../../../src/projections/projection.ts";
import type { Document } from "../../../src/stores/read-store/port.ts";
import {
  ACCOUNT,
  AT,
  type ClickFields as Click,
  linkClicked,
  OTHER_ACCOUNT,
  position,
  stored,
} from "../../support/event-store/stored-events.ts";
import { plainFold } from "../../support/projections/plain-fold.ts";

function given<D extends Document>(projection: Projection<D>, clicks: Click[]): D[] {
  return [...plainFold(projection, events(clicks)).values()];
}

function events(clicks: Click[]) {
  return clicks.map((click, n) => stored(n, linkClicked(click)));
}

function tallyOf(of: { kinds: { click?: Breakdown } } | undefined, dimension: Dimension): Tally {
  return of?.kinds.click?.tallies[DIMENSIONS.indexOf(dimension)] ?? [];
}

const total = (tally: Tally) => valueCounts(tally).reduce((sum, [, count]) => sum + count, 0);

describe("totals of a link", () => {
  it("count hits by kind, and keep the earliest and the latest time whatever the order of arrival", () => {
    const clicks: Click[] = [
      { at: "2026-03-01T10:00:00.000Z" },
      { at: "2026-03-01T09:00:00.000Z", kind: "qr_scan" },
      { at: "2026-03-01T11:00:00.000Z", kind: "preview" },
      { link: "sho.rt/other" },
    ];
    expect(given(linkClicks, clicks)[0]).toMatchObject({
      ...{ _id: "sho.rt/abc", accountId: ACCOUNT, totalClicks: 3, click: 1, preview: 1, qr_scan: 1 },
      ...{ firstAt: "2026-03-01T09:00:00.000Z", lastAt: "2026-03-01T11:00:00.000Z" },
    });
  });
});

describe("hits by day", () => {
  const clicks: Click[] = [
    { at: "2026-03-01T10:59:59.999Z" },
    { at: "2026-03-01T11:00:00.000Z", kind: "preview" },
    { at: "2026-03-01T10:00:00.000Z", kind: "qr_scan" },
    { at: "2026-03-02T00:00:00.000Z" },
    { at: "2026-03-01T10:30:00.000Z", link: "sho.rt/other" },
  ];

  it("of a link are in a document for each UTC day", () => {
    expect(given(linkDays, clicks)).toMatchObject([
      {
        _id: "sho.rt/abc@2026-03-01",
        quarters: [
          [40, 0, 0, 1],
          [43, 1, 0, 0],
          [44, 0, 1, 0],
        ],
      },
      { _id: "sho.rt/abc@2026-03-02", quarters: [[0, 1, 0, 0]] },
      { _id: "sho.rt/other@2026-03-01", quarters: [[42, 1, 0, 0]] },
    ]);
  });

  it("that come late are counted in their day, and in the totals", () => {
    const late: Click[] = [
      { at: "2026-03-03T10:00:00.000Z" },
      { at: "2026-03-01T10:00:00.000Z", country: "DE" },
      { at: "2026-03-03T11:00:00.000Z" },
      { at: "2026-03-01T10:01:00.000Z", kind: "preview" },
    ];
    expect(given(linkClicks, late)[0]).toMatchObject({
      ...{ totalClicks: 4, date: "2026-03-03", lastDays: [2, 0, 1], _position: position(3) },
    });
    expect(given(linkDays, late)).toMatchObject([
      { _id: "sho.rt/abc@2026-03-03", first: position(0), last: position(2) },
      {
        ...{ _id: "sho.rt/abc@2026-03-01", _position: position(3), first: position(1), last: position(3) },
        quarters: [[40, 1, 1, 0]],
      },
    ]);
  });

  it("have their breakdowns added up in the totals of the link", () => {
    const [first, second, third] = ["01", "02", "03"].map((day) => `2026-03-${day}T10:00:00.000Z`);
    const of = (at = "", country = "", source = ""): Click => ({ at, country, utm: { source } });
    const days = [of(first, "FR", "mail"), of(first, "DE"), of(second, "FR", "mail"), of(third, "JP", "web")];
    const [totals] = given(linkClicks, days);
    expect(tallyOf(totals, "countries")).toEqual(["FR", 2, "DE", 1, "JP", 1]);
    expect(totals?.kinds.click).toMatchObject({ utm: { source: ["mail", 2, "web", 1] } });
    expect(totals?.kinds.click).not.toHaveProperty("visitors");
  });

  it("of a link have breakdowns and visitors by kind, and the positions of the first and last click", () => {
    const [document] = given(linkDays, [
      { at: "2026-03-01T10:59:59.999Z", visitor: "a".repeat(16), utm: { source: "mail" } },
      { at: "2026-03-01T08:00:00.000Z", visitor: "b".repeat(16), country: "DE", city: undefined },
      { at: "2026-03-01T10:00:00.000Z", visitor: "a".repeat(16), utm: { source: "mail" } },
      { at: "2026-03-01T10:00:00.000Z", visitor: "a".repeat(16), kind: "qr_scan" },
    ]);
    expect(document).toMatchObject({ first: position(0), last: position(3) });
    expect(document?.kinds).toEqual({
      click: {
        tallies: [
          ["desktop", 3],
          ["FR", 2, "DE", 1],
          ["Paris, FR", 2, "unknown", 1],
          ["Firefox", 3],
          ["Linux", 3],
          ["example.org", 3],
        ],
        visitors: "a".repeat(10) + "b".repeat(10),
        regions: ["IDF, FR", 2, "IDF, DE", 1],
        languages: ["fr", 3],
        utm: { source: ["mail", 2] },
      },
      qr_scan: {
        tallies: [
          ["desktop", 1],
          ["FR", 1],
          ["Paris, FR", 1],
          ["Firefox", 1],
          ["Linux", 1],
          ["example.org", 1],
        ],
        visitors: "a".repeat(10),
        regions: ["IDF, FR", 1],
        languages: ["fr", 1],
      },
    });
  });

  it("of an account are the sum over all its links, and no other account's", () => {
    const foreign = { at: "2026-03-01T10:00:00.000Z", accountId: OTHER_ACCOUNT };
    const days = given(accountDays, [...clicks, foreign]);
    expect(days).toMatchObject([
      {
        _id: `${ACCOUNT}@2026-03-01`,
        quarters: [
          [40, 0, 0, 1],
          [42, 1, 0, 0],
          [43, 1, 0, 0],
          [44, 0, 1, 0],
        ],
      },
      { _id: `${ACCOUNT}@2026-03-02`, quarters: [[0, 1, 0, 0]] },
      { _id: `${OTHER_ACCOUNT}@2026-03-01`, quarters: [[40, 1, 0, 0]] },
    ]);
  });
});

describe("breakdowns of a link", () => {
  it("count each hit once in every dimension, as `unknown` where it has no value", () => {
    const nothing: Click = {
      ...{ device: "unknown", country: undefined, city: undefined, referrer: undefined },
      ...{ browser: undefined, os: undefined },
    };
    expect(given(linkClicks, [{}, nothing, {}])[0]?.kinds.click?.tallies).toEqual([
      ["desktop", 2, "unknown", 1],
      ["FR", 2, "unknown", 1],
      ["Paris, FR", 2, "unknown", 1],
      ["Firefox", 2, "unknown", 1],
      ["Linux", 2, "unknown", 1],
      ["example.org", 2, "direct", 1],
    ]);
  });

  it("count the utm parameters that were given", () => {
    const clicks: Click[] = [{ utm: { source: "mail", term: "" } }, { utm: { source: "mail" } }, {}];
    expect(given(linkClicks, clicks)[0]?.kinds.click?.utm).toEqual({
      source: ["mail", 2],
    });
  });

  it("count the rules that led and where, of all days too", () => {
    const [first, second] = ["2026-03-01T10:00:00.000Z", "2026-03-02T10:00:00.000Z"];
    const clicks: Click[] = [
      ...[
        { at: first, rule: "a1", longUrl: "https://a/" },
        { at: first, rule: "b2", longUrl: "https://b/" },
      ],
      ...[{ at: first }, { at: second, rule: "b2", longUrl: "https://b/" }, { at: second }],
    ];
    expect(given(linkDays, clicks).map(({ kinds }) => kinds.click?.rules)).toEqual([
      ["a1 https://a/", 1, "b2 https://b/", 1],
      ["b2 https://b/", 1],
    ]);
    expect(given(linkClicks, clicks)[0]?.kinds.click?.rules).toEqual([
      ...["a1 https://a/", 1, "b2 https://b/", 2],
    ]);
    expect(given(linkClicks, [{}])[0]?.kinds.click).not.toHaveProperty("rules");
  });

  it("tell long destinations of a rule apart that begin alike", () => {
    const long = `https://example.com/${"x".repeat(8_000)}`;
    const clicks = [`${long}1`, `${long}2`, `${long}1`].map((longUrl): Click => ({ rule: "a1", longUrl }));
    const rules = given(linkClicks, clicks)[0]?.kinds.click?.rules ?? [];
    expect(rules.filter((value) => typeof value === "number")).toEqual([2, 1]);
    for (const value of rules) expect(String(value).length).toBeLessThan(200);
  });

  it("accept values that are special names in JavaScript or MongoDB", () => {
    const names = ["__proto__", "constructor", "a.b", "$set", "toString", "__proto__"];
    const [document] = given(
      linkClicks,
      names.map((source) => ({ utm: { source }, referrer: `https://${source}/` })),
    );
    const source = document?.kinds.click?.utm?.source;
    expect(source).toEqual([...["__proto__", 2, "constructor", 1], ...["a.b", 1, "$set", 1, "toString", 1]]);
    expect(tallyOf(document, "referrers")).toEqual(
      source?.map((value) => (value === "toString" ? "tostring" : value)),
    );
  });

  it("stay bounded with thousands of values, with exact sums and the most frequent values", () => {
    const clicks = Array.from({ length: 3_000 }, (_, n): Click => {
      return n % 3 === 0
        ? { referrer: "https://often.example/" }
        : { referrer: `https://h${n}.example/`, city: `c${n}` };
    });
    const [document] = given(linkClicks, clicks);
    for (const dimension of DIMENSIONS) expect(total(tallyOf(document, dimension))).toBe(3_000);
    const referrers = valueCounts(tallyOf(document, "referrers"));
    expect(referrers.length).toBeLessThanOrEqual(200);
    expect(referrers).toContainEqual(["often.example", 1_000]);
    expect(referrers.some(([value]) => value === OTHER)).toBe(true);
  });
});

describe("a tally", () => {
  it("keeps 100 of 201 values, ties by name, and adds up the others", () => {
    const tally: Tally = [];
    for (let n = 0; n <= 200; n += 1) countOne(tally, `v${String(n).padStart(3, "0")}`);
    const counts = valueCounts(tally);
    expect(counts).toHaveLength(101);
    expect(counts[0]).toEqual(["v000", 1]);
    expect(counts[99]).toEqual(["v099", 1]);
    expect(counts[100]).toEqual([OTHER, 101]);
  });

  it("cuts a value at 200 characters without splitting a surrogate pair", () => {
    const tally: Tally = [];
    countOne(tally, `${"x".repeat(199)}\u{1f600}${"y".repeat(5_000)}`);
    expect(tally).toEqual([`${"x".repeat(199)}\ufffd`, 1]);
  });
});

describe("recent clicks", () => {
  it("show a hit with the field names of the API's answer", () => {
    const [document] = given(linkClicks, [{ utm: { source: "mail" } }]);
    expect(document?.recent.map(recentClick)).toEqual([
      {
        ...{
          at: AT,
          type: "click",
          device: "desktop",
          browser: "Firefox",
          browser_version: "140.0",
          os: "Linux",
        },
        ...{ user_agent: "Mozilla/5.0", country: "FR", city: "Paris", ip: "192.0.2.0" },
        ...{ referrer: "https://www.example.org/page", utm: { source: "mail" } },
      },
    ]);
  });

  it("keep the ten latest by time, newest first, also when they are appended out of order", () => {
    const minute = (n: number) => `2026-03-01T10:${String(n).padStart(2, "0")}:00.000Z`;
    const order = [0, 1, 2, 14, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 3];
    const [document] = given(
      linkClicks,
      order.map((n) => ({ at: minute(n) })),
    );
    expect(document?.recent.map(([at]) => at)).toEqual([14, 13, 12, 11, 10, 9, 8, 7, 6, 5].map(minute));
  });

  it("keep ten of people however many bots come, and the other way round", () => {
    const minute = (n: number) => `2026-03-01T10:${String(n).padStart(2, "0")}:00.000Z`;
    const people = Array.from({ length: 12 }, (_, n) => ({ at: minute(n), kind: "qr_scan" as const }));
    const bots = Array.from({ length: 15 }, (_, n) => ({ at: minute(20 + n), kind: "preview" as const }));
    const [document] = given(linkClicks, [...bots.toReversed(), ...people]);
    const expected = [...people.slice(-10), ...bots.slice(-10)].toReversed();
    expect(document?.recent.map(([at, kind]) => ({ at, kind }))).toEqual(expected);
  });
});
