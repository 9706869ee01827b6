// Hours, days, weeks and months of time zones, also where clocks are set by half an hour or a whole day.
import { describe, expect, it } from "vitest";
import { type Interval, pointsOf, startOfDay } from "../../../../src/queries/analytics/intervals.ts";
import {
  DAY_MS,
  instantOf,
  isoIn,
  type TimeZone,
  timeZone,
  UTC,
} from "../../../../src/queries/analytics/time-zone.ts";

function zone(name: string): TimeZone {
  const found = timeZone(name);
  if (!found) throw new Error(name);
  return found;
}

function starts(name: string, interval: Interval, from: string, to: string): string[] {
  const range = { from: Date.parse(from), to: Date.parse(to) };
  return pointsOf({ zone: zone(name), interval }, range).starts.map((start) => isoIn(zone(name), start));
}

describe("time zones", () => {
  it("have the offsets of their time, with halves and quarters of hours", () => {
    const at = Date.parse("2026-01-15T12:00:00Z");
    const offsets = [
      ...[["UTC", 0] as const, ["Europe/Berlin", 60] as const, ["Asia/Kathmandu", 345] as const],
      ...[["Australia/Lord_Howe", 660] as const, ["America/St_Johns", -210] as const],
      ...[["Pacific/Chatham", 825] as const, ["America/New_York", -300] as const],
    ];
    for (const [name, minutes] of offsets)
      expect([name, zone(name).offsetAt(at) / 60_000]).toEqual([name, minutes]);
    expect(zone("Europe/Berlin").offsetAt(Date.parse("2026-07-01T00:00:00Z"))).toBe(7_200_000);
    expect(isoIn(zone("America/St_Johns"), at)).toBe("2026-01-15T08:30:00.000-03:30");
    expect(isoIn(UTC, at)).toBe("2026-01-15T12:00:00.000Z");
    for (const name of ["Mars/Olympus", "", "Europe/", "__proto__"]) expect(timeZone(name)).toBeUndefined();
  });

  it("change their offset at the very second", () => {
    const berlin = zone("Europe/Berlin");
    const change = Date.parse("2026-03-29T01:00:00Z");
    expect(berlin.changeIn(change - 86_400_000, change + 86_400_000)).toBe(change);
    expect([berlin.offsetAt(change - 1), berlin.offsetAt(change)]).toEqual([3_600_000, 7_200_000]);
    expect(berlin.changeIn(change, change + 86_400_000)).toBeUndefined();
    expect(berlin.changeIn(change - 86_400_000, change - 1)).toBeUndefined();
  });

  it("have two instants for a local time that is repeated, and none for one that is skipped", () => {
    const local = (text: string) => Date.parse(`${text}Z`);
    const berlin = (text: string, skipped: "start" | "later") =>
      new Date(instantOf(zone("Europe/Berlin"), local(text), skipped)).toISOString();
    expect(berlin("2026-10-25T02:30:00", "later")).toBe("2026-10-25T00:30:00.000Z");
    expect(berlin("2026-03-29T02:30:00", "later")).toBe("2026-03-29T01:30:00.000Z");
    expect(berlin("2026-03-29T02:30:00", "start")).toBe("2026-03-29T01:00:00.000Z");
    const cairo = instantOf(zone("Africa/Cairo"), local("2026-04-24T00:00:00"), "start");
    expect(isoIn(zone("Africa/Cairo"), cairo)).toBe("2026-04-24T01:00:00.000+03:00");
  });
});

describe("the parts of a range", () => {
  it("are local days, of 23 and 25 hours where clocks are set", () => {
    expect(starts("Europe/Berlin", "day", "2026-03-28T12:00Z", "2026-03-31T00:00Z")).toEqual([
      "2026-03-28T13:00:00.000+01:00",
      "2026-03-29T00:00:00.000+01:00",
      "2026-03-30T00:00:00.000+02:00",
      "2026-03-31T00:00:00.000+02:00",
    ]);
    expect(starts("Asia/Kathmandu", "day", "2026-02-27T18:15Z", "2026-03-01T18:15Z")).toEqual([
      "2026-02-28T00:00:00.000+05:45",
      "2026-03-01T00:00:00.000+05:45",
    ]);
  });

  it("are local hours, which begin with the quarter-hours of the zone; a repeated hour is two", () => {
    expect(starts("Pacific/Chatham", "hour", "2026-01-01T00:00Z", "2026-01-01T02:00Z")).toEqual([
      "2026-01-01T13:45:00.000+13:45",
      "2026-01-01T14:00:00.000+13:45",
      "2026-01-01T15:00:00.000+13:45",
    ]);
    expect(starts("America/New_York", "hour", "2026-11-01T05:00Z", "2026-11-01T08:00Z")).toEqual([
      "2026-11-01T01:00:00.000-04:00",
      "2026-11-01T01:00:00.000-05:00",
      "2026-11-01T02:00:00.000-05:00",
    ]);
    // Lord Howe sets its clocks by half an hour, at 2:00.
    expect(starts("Australia/Lord_Howe", "hour", "2026-04-04T14:00Z", "2026-04-04T16:30Z")).toEqual([
      "2026-04-05T01:00:00.000+11:00",
      "2026-04-05T01:30:00.000+10:30",
      "2026-04-05T02:00:00.000+10:30",
    ]);
    expect(starts("Australia/Lord_Howe", "hour", "2026-10-03T14:30Z", "2026-10-03T17:00Z")).toEqual([
      "2026-10-04T01:00:00.000+10:30",
      "2026-10-04T02:30:00.000+11:00",
      "2026-10-04T03:00:00.000+11:00",
    ]);
  });

  it("are weeks that begin on Monday, and calendar months", () => {
    expect(starts("America/St_Johns", "week", "2026-10-28T12:00Z", "2026-11-10T00:00Z")).toEqual([
      "2026-10-28T09:30:00.000-02:30",
      "2026-11-02T00:00:00.000-03:30",
      "2026-11-09T00:00:00.000-03:30",
    ]);
    expect(starts("UTC", "week", "1969-12-28T00:00Z", "1970-01-06T00:00Z")).toEqual([
      "1969-12-28T00:00:00.000Z",
      "1969-12-29T00:00:00.000Z",
      "1970-01-05T00:00:00.000Z",
    ]);
    expect(starts("Europe/Berlin", "month", "2025-12-31T23:00Z", "2026-04-30T21:00Z")).toEqual([
      "2026-01-01T00:00:00.000+01:00",
      "2026-02-01T00:00:00.000+01:00",
      "2026-03-01T00:00:00.000+01:00",
      "2026-04-01T00:00:00.000+02:00",
    ]);
    expect(starts("UTC", "month", "0098-12-05T00:00Z", "0099-02-02T00:00Z")).toEqual([
      "0098-12-05T00:00:00.000Z",
      "0099-01-01T00:00:00.000Z",
      "0099-02-01T00:00:00.000Z",
    ]);
  });

  it("leave out a day that a zone left out", () => {
    expect(starts("Pacific/Apia", "day", "2011-12-29T10:00Z", "2012-01-01T00:00Z")).toEqual([
      "2011-12-29T00:00:00.000-10:00",
      "2011-12-31T00:00:00.000+14:00",
      "2012-01-01T00:00:00.000+14:00",
    ]);
  });

  it("are 5,000 at most, and 400 where their length is chosen to fit", () => {
    const from = Date.parse("2026-01-01T00:00Z");
    const points = (days: number, interval?: Interval) =>
      pointsOf({ zone: UTC, interval }, { from, to: from + days * DAY_MS });
    expect(points(208, "hour").starts).toHaveLength(208 * 24);
    for (const [days, interval] of [
      [209, "hour"],
      [0, "day"],
      [34 * 366, undefined],
    ] as const)
      expect(() => points(days, interval)).toThrow(/more than|before/);
    const fitting = [8, 367, 5 * 367, 33 * 365].map((days) => points(days));
    expect(fitting.map(({ interval }) => interval)).toEqual(["hour", "day", "week", "month"]);
    for (const { starts: fit } of fitting) expect(fit.length).toBeLessThanOrEqual(400);
  });

  it("begin with the day of an instant, in any zone and at any time of the year", () => {
    for (const name of [
      "Asia/Kathmandu",
      "Australia/Lord_Howe",
      "Africa/Cairo",
      "Pacific/Apia",
      "America/St_Johns",
    ])
      for (
        let at = Date.parse("2026-01-01T00:07Z");
        at < Date.parse("2027-01-01T00:00Z");
        at += 7 * 19 * 3_600_000
      ) {
        const start = startOfDay(zone(name), at);
        expect(start).toBeLessThanOrEqual(at);
        expect(isoIn(zone(name), start).slice(0, 10)).toBe(isoIn(zone(name), at).slice(0, 10));
        expect(isoIn(zone(name), start - 1).slice(0, 10)).not.toBe(isoIn(zone(name), at).slice(0, 10));
      }
  });
});
