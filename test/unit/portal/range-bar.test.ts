// The range of time that a page's address names, and the bar that chooses it.
import { describe, expect, it } from "vitest";
import type { Tier } from "../../../src/events/vocabulary.ts";
import { pageRange, RangeQuery, rangeAddress, rangeBar } from "../../../src/portal/analytics/range-bar.ts";
import { htmlText } from "../../../src/portal/shell/html.ts";
import { decoded } from "../../support/portal/browser-like.ts";

const NOW = new Date("2026-03-29T10:30:00.000Z");

function rangeOf(query: Record<string, unknown>, tier: Tier = "developer") {
  return pageRange(RangeQuery.parse(query), tier, NOW);
}

function timesOf(query: Record<string, unknown>, tier?: Tier) {
  const { from, to, interval } = rangeOf(query, tier).request ?? {};
  const iso = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());
  return [iso(from), iso(to), interval];
}

describe("the range of a page", () => {
  it("is the last 7 days unless the address says otherwise, and the last 24 hours on the Free plan", () => {
    expect(timesOf({})).toEqual(["2026-03-23T00:00:00.000Z", undefined, "day"]);
    expect(timesOf({ range: "24h" })).toEqual(["2026-03-28T11:00:00.000Z", undefined, "hour"]);
    expect(timesOf({ range: "30d" })).toEqual(["2026-02-28T00:00:00.000Z", undefined, "day"]);
    expect(timesOf({ range: "12mo" })).toEqual(["2025-04-01T00:00:00.000Z", undefined, "month"]);
    expect(timesOf({ range: ["7d", "30d"], bots: { a: 1 } })).toEqual(timesOf({}));
    expect(timesOf({ range: "12mo", from: "2020-01-01" }, "free")).toEqual(timesOf({ range: "24h" }));
  });

  it("has whole days of the time zone, also on the day on which clocks are set", () => {
    const timezone = "Europe/Berlin";
    expect(timesOf({ range: "7d", timezone })).toEqual(["2026-03-22T23:00:00.000Z", undefined, "day"]);
    expect(timesOf({ from: "2026-03-29", to: "2026-03-29", timezone }).slice(0, 2)).toEqual([
      "2026-03-28T23:00:00.000Z",
      "2026-03-29T22:00:00.000Z",
    ]);
    expect(timesOf({ range: "24h", timezone: "Asia/Kathmandu" })[0]).toBe("2026-03-28T11:15:00.000Z");
  });

  it("is of people, or of bots too", () => {
    expect(rangeOf({}).request?.kinds).toEqual(["click", "qr_scan"]);
    expect(rangeOf({ bots: "1" }).request?.kinds).toEqual(["click", "preview", "qr_scan"]);
  });

  it("says what is wrong beside each field, and keeps what was typed", () => {
    const query = { from: "31 March", to: "2026-02-31", timezone: "Mars", as_of: "soon" };
    const range = rangeOf(query);
    expect(Object.keys(range.errors).sort()).toEqual(["as_of", "from", "timezone", "to"]);
    expect(range.request).toBeUndefined();
    const text = htmlText(rangeBar("/here", range, "developer", { asOf: true }));
    for (const name of ["from", "to", "timezone", "as_of"])
      expect(text).toMatch(new RegExp(`id="field-${name}"[^>]*aria-invalid="true"`));
    for (const kept of ['value="31 March"', 'value="2026-02-31"', '"Mars" selected', 'value="soon"'])
      expect(text).toContain(kept);
    // The pickers of browsers show no such texts, and would send nothing in their place.
    expect(text).not.toMatch(/type="date/);
    expect(rangeOf({ from: "2026-03-02", to: "2026-03-01" }).errors).toHaveProperty("to");
    expect(rangeOf({ from: "2026-04-01" }).errors).toHaveProperty("from");
    expect(rangeOf({ as_of: "2026-03-29T10:32" }).errors).toEqual({ as_of: "This is still to come." });
  });

  it("is as of a time or a position of the log, which the form keeps", () => {
    const position = "00000000000000000007";
    expect(rangeOf({ as_of: position }).request?.asOf).toEqual({ position });
    for (const [as_of, type] of [
      ["2026-03-01T09:30", "datetime-local"],
      ["2026-03-01T09:30Z", "text"],
      ["2026-03-01", "text"],
      [position, "text"],
    ] as const) {
      const range = rangeOf({ as_of });
      expect([as_of, range.errors]).toEqual([as_of, {}]);
      const text = htmlText(rangeBar("/here", range, "developer", { asOf: true }));
      expect(text).toMatch(new RegExp(`name="as_of" type="${type}"\\s*value="${as_of}"`));
    }
  });

  it("stays in the addresses of the bar, which adds bots and other ranges to it", () => {
    const range = rangeOf({ from: "2026-03-01", to: "2026-03-02", timezone: "Asia/Tokyo" });
    expect(rangeAddress("/p", range, { bots: true })).toBe(
      "/p?range=custom&from=2026-03-01&to=2026-03-02&timezone=Asia%2FTokyo&bots=1",
    );
    expect(rangeAddress("/p", range, { choice: "7d" })).toBe("/p?range=7d&timezone=Asia%2FTokyo");
    expect(decoded(htmlText(rangeBar("/p", rangeOf({}), "developer")))).toContain(
      'href="/p?range=custom&from=2026-03-23" data-zoned',
    );
    const free = htmlText(rangeBar("/p", rangeOf({}, "free"), "free"));
    expect(free.match(/class="locked" href="\/portal\/plan"/g)).toHaveLength(4);
  });
});
