// Time series from day documents: buckets that end with the current one, zero-filled.
import { describe, expect, it } from "vitest";
import type { DayDocument, QuarterHour } from "../../../src/projections/definitions/days/days.ts";
import { sumOf } from "../../../src/queries/analytics/hit-counts.ts";
import { daysIn, RANGES, timeSeries } from "../../../src/queries/analytics/time-series.ts";

const NOW = new Date("2026-03-01T10:30:00.000Z");

function day(at: string, quarters: QuarterHour[]): DayDocument {
  return { _id: `x@${at}`, _position: "1", quarters };
}

describe("a time series", () => {
  it("ends with the current hour, day or month, oldest first", () => {
    const ends = RANGES.map((range) => {
      const { unit, points } = timeSeries(range, NOW, []);
      return [range, unit, points.length, points[0]?.start, points.at(-1)?.start];
    });
    expect(ends).toEqual([
      ["24h", "hour", 24, "2026-02-28T11:00:00.000Z", "2026-03-01T10:00:00.000Z"],
      ["7d", "day", 7, "2026-02-23T00:00:00.000Z", "2026-03-01T00:00:00.000Z"],
      ["30d", "day", 30, "2026-01-31T00:00:00.000Z", "2026-03-01T00:00:00.000Z"],
      ["12mo", "month", 12, "2025-04-01T00:00:00.000Z", "2026-03-01T00:00:00.000Z"],
    ]);
  });

  it("needs the documents of at most 366 days", () => {
    expect(daysIn("24h", NOW)).toEqual(["2026-02-28", "2026-03-01"]);
    expect(daysIn("7d", NOW)).toHaveLength(7);
    expect(daysIn("30d", NOW)).toHaveLength(30);
    expect(daysIn("12mo", NOW)).toHaveLength(335);
    expect(daysIn("12mo", new Date("2028-12-31T23:59:59.999Z"))).toHaveLength(366);
  });

  it("counts each hit by kind in its own bucket, and none outside the range", () => {
    const days = [
      day("2026-02-28", [
        [43, 9, 9, 9],
        [44, 1, 0, 1],
        [47, 0, 2, 2],
      ]),
      day("2026-03-01", [
        [0, 1, 0, 0],
        [40, 0, 0, 4],
      ]),
    ];
    const hours = timeSeries("24h", NOW, days);
    expect(hours.points[0]).toMatchObject({ click: 1, preview: 2, qr_scan: 3, total: 6 });
    expect(hours.points[13]).toMatchObject({ start: "2026-03-01T00:00:00.000Z", total: 1 });
    expect(hours.points[23]).toMatchObject({ click: 0, qr_scan: 4, total: 4 });
    expect(sumOf(hours.points)).toEqual({ click: 2, preview: 2, qr_scan: 7, total: 11 });
    expect(timeSeries("7d", NOW, days).points.map(({ total }) => total)).toEqual([0, 0, 0, 0, 0, 33, 5]);
    expect(timeSeries("12mo", NOW, days).points.slice(-2)).toMatchObject([{ total: 33 }, { total: 5 }]);
  });
});
