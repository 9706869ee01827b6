// Times that people type: command line and console must read the same one from the same text.
import { describe, expect, it } from "vitest";
import { parseHttpDate, parseMoment } from "../../../src/runtime/moment.ts";

describe("a time that somebody types", () => {
  it.each([
    ["2026-01-31", "2026-01-31T00:00:00.000Z"],
    ["2026-01-31T12:00", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31T12:00:30.5", "2026-01-31T12:00:30.500Z"],
    ["2026-01-31T12:00Z", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31T12:00+05:45", "2026-01-31T06:15:00.000Z"],
    ["2026-01-31T12:00:00-0330", "2026-01-31T15:30:00.000Z"],
    ["2019-03-01 10:00:00.123456+00", "2019-03-01T10:00:00.123Z"],
    ["2028-02-29", "2028-02-29T00:00:00.000Z"],
  ])("reads %s as %s, in any zone of the machine", (text, iso) => {
    expect(parseMoment(text)?.toISOString()).toBe(iso);
  });

  it.each([
    ...["", "yesterday", "2026", "31/01/2026", "2026-01-31T", "2026-01-31T12", " 2026-01-31", "1769860800"],
    ...["2026-02-31", "2026-02-29", "2026-13-01", "2026-00-10", "0000-00-00 00:00:00", "2026-02-31T12:00Z"],
    ...["2026-01-31T25:00Z", "2026-01-31T24:00Z", "2026-01-31T24:30Z", "2026-01-31T12:60Z"],
    ...["2016-12-31T23:59:60Z", "2026-01-31T12:00+24:00", "2026-01-31T12:00+01:60", "9999-12-31T23:59-01:00"],
  ])("refuses %j, which is no moment of the calendar", (text) => expect(parseMoment(text)).toBeUndefined());
});

describe("a date in the header of an answer", () => {
  it("is read in the one form that HTTP has, when it exists", () => {
    expect(parseHttpDate("Sat, 31 Jan 2026 12:00:00 GMT")?.toISOString()).toBe("2026-01-31T12:00:00.000Z");
    for (const text of ["Sat, 31 Feb 2026 12:00:00 GMT", "31 Jan 2026", "Invalid Date", "", "1769860800"])
      expect(parseHttpDate(text), text).toBeUndefined();
  });
});
