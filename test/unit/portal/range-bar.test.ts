// The range of time that a page's address names, and the bar that chooses it.
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Tier } from "../../../src/events/vocabulary.ts";
import { rangeBar } from "../../../src/portal/analytics/analytics-bar.ts";
import { AnalyticsQuery, viewAddress, viewOf } from "../../../src/portal/analytics/view-address.ts";
import { htmlText } from "../../../src/portal/shell/html.ts";
import { decoded } from "../../support/portal/browser-like.ts";

const NOW = new Date("2026-03-29T10:30:00.000Z");

function view(query: Record<string, unknown>, tier: Tier = "developer", zone?: string) {
  return viewOf(AnalyticsQuery.parse(query), tier, NOW, zone);
}

const rangeOf = (query: Record<string, unknown>, tier?: Tier) => view(query, tier).range;

function timesOf(query: Record<string, unknown>, tier?: Tier) {
  const { from, to, interval } = rangeOf(query, tier).request ?? {};
  const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());
  return [iso(from), iso(to), interval];
}

describe("the range of a page", () => {
  it("is read from whatever stands in an address, and its own addresses name the same view again", () => {
    const text = fc.oneof(
      fc.constantFrom(
        "",
        "7d",
        "custom",
        "none",
        "hour",
        "month",
        "week",
        "year",
        "2026-03-01",
        "2026-02-31",
      ),
      fc.constantFrom("9999-12-31", "0000-01-01", "Asia/Kathmandu", "visitors", "__proto__"),
      fc.string({ maxLength: 120 }),
    );
    const names = Object.keys(AnalyticsQuery.shape);
    const query = fc.dictionary(fc.constantFrom(...names), fc.oneof(text, fc.array(text, { maxLength: 3 })));
    fc.assert(
      fc.property(query, fc.constantFrom<Tier>("free", "developer"), (typed, tier) => {
        const shown = view(typed, tier);
        const address = viewAddress(shown);
        const params = new URLSearchParams(address.split("?")[1]);
        const again = view(
          Object.fromEntries(
            [...new Set(params.keys())].map((name) => {
              const all = params.getAll(name);
              return [name, all.length === 1 ? all[0] : all];
            }),
          ),
          tier,
        );
        expect(again.filters).toEqual(shown.filters);
        expect(viewAddress(again)).toBe(address);
        expect(htmlText(rangeBar(shown, undefined, "day"))).not.toContain("<script");
      }),
    );
  });

  it("has points of the length that is chosen, where so many can be told apart", () => {
    const intervalOf = (query: Record<string, unknown>) => timesOf(query)[2];
    expect(intervalOf({ range: "7d", interval: "hour" })).toBe("hour");
    expect(intervalOf({ range: "90d", interval: "week" })).toBe("week");
    expect(intervalOf({ range: "12mo", interval: "day" })).toBe("day");
    expect(intervalOf({ range: "12mo", interval: "hour" })).toBe("month");
    expect(intervalOf({ range: "7d", interval: "month" })).toBe("day");
    const text = decoded(htmlText(rangeBar(view({ range: "7d" }), undefined, "day")));
    const offered = [...text.matchAll(/href="[^"]*interval=(\w+)"/g)].map(([, interval]) => interval);
    expect(offered).toEqual(["hour", "day"]);
  });

  it("is the last 7 days unless the address says otherwise, and the last 24 hours on the Free plan", () => {
    expect(timesOf({})).toEqual(["2026-03-23T00:00:00.000Z", undefined, "day"]);
    expect(timesOf({ range: "today" })).toEqual(["2026-03-29T00:00:00.000Z", undefined, "hour"]);
    expect(timesOf({ range: "30d" })).toEqual(["2026-02-28T00:00:00.000Z", undefined, "day"]);
    expect(timesOf({ range: "90d" })).toEqual(["2025-12-30T00:00:00.000Z", undefined, "day"]);
    expect(timesOf({ range: "12mo" })).toEqual(["2025-04-01T00:00:00.000Z", undefined, "month"]);
    expect(timesOf({ range: ["7d", "30d"] })).toEqual(timesOf({}));
    expect(timesOf({}, "free")).toEqual(["2026-03-28T11:00:00.000Z", undefined, "hour"]);
    expect(timesOf({ range: "12mo", from: "2020-01-01" }, "free")).toEqual(timesOf({}, "free"));
  });

  it("has whole days of the time zone, also on the day on which clocks are set", () => {
    const timezone = "Europe/Berlin";
    expect(timesOf({ range: "7d", timezone })).toEqual(["2026-03-22T23:00:00.000Z", undefined, "day"]);
    expect(timesOf({ from: "2026-03-29", to: "2026-03-29", timezone }).slice(0, 2)).toEqual([
      "2026-03-28T23:00:00.000Z",
      "2026-03-29T22:00:00.000Z",
    ]);
  });

  it("is of the browser's zone, unless the address names another", () => {
    const zoneOf = (query: Record<string, unknown>, zone: string) =>
      view(query, "developer", zone).range.zone.name;
    expect(zoneOf({}, "Asia/Tokyo")).toBe("Asia/Tokyo");
    expect(zoneOf({ range: "custom" }, "Asia/Tokyo")).toBe("Asia/Tokyo");
    expect(zoneOf({ timezone: "Europe/Berlin" }, "Asia/Tokyo")).toBe("Europe/Berlin");
    expect(zoneOf({}, "Mars/<b>")).toBe("UTC");
    expect(zoneOf({ range: "custom" }, "Mars/<b>")).toBe("UTC");
  });

  it("says what is wrong beside each field, and keeps what was typed", () => {
    const wrong = view({ from: "31 March", to: "2026-02-31", timezone: "Mars" });
    expect(Object.keys(wrong.range.errors).sort()).toEqual(["from", "timezone", "to"]);
    expect(wrong.range.request).toBeUndefined();
    const text = htmlText(rangeBar(wrong));
    for (const name of ["from", "to", "timezone"])
      expect(text).toMatch(new RegExp(`id="field-${name}"[^>]*aria-invalid="true"`));
    for (const kept of ['value="31 March"', 'value="2026-02-31"', '"Mars" selected'])
      expect(text).toContain(kept);
    // The pickers of browsers show no such texts, and would send nothing in their place.
    expect(text).not.toMatch(/type="date/);
    expect(rangeOf({ from: "2026-03-02", to: "2026-03-01" }).errors).toHaveProperty("to");
    expect(rangeOf({ from: "2026-04-01" }).errors).toHaveProperty("from");
  });

  it("stays in the addresses of the page, with filters, what is shown and what stands open", () => {
    const query = { from: "2026-03-01", to: "2026-03-02", timezone: "Asia/Tokyo" };
    const shown = view({ ...query, country: ["FR", "DE"], show: "visitors", open: "city" });
    const rest = "country=FR&country=DE&show=visitors&open=city";
    const range = "range=custom&from=2026-03-01&to=2026-03-02&timezone=Asia%2FTokyo";
    expect(viewAddress(shown)).toBe(`/portal/analytics?${range}&${rest}`);
    const text = decoded(htmlText(rangeBar(shown)));
    expect(text).toContain(`href="/portal/analytics?range=7d&timezone=Asia%2FTokyo&${rest}"`);
    for (const [name, value] of new URLSearchParams(rest))
      expect(text).toContain(`<input type="hidden" name="${name}" value="${value}">`);
    expect(decoded(htmlText(rangeBar(view({}))))).toContain(
      'href="/portal/analytics?range=custom&from=2026-03-23&timezone=UTC"',
    );
    const free = htmlText(rangeBar(view({}, "free")));
    expect(free.match(/class="locked" href="\/portal\/plan"/g)).toHaveLength(5);
  });
});
