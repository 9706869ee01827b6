// Times that people type: command line and console must read the same one from the same text.
import { describe, expect, it } from "vitest";
import { parseMoment } from "../../../src/runtime/moment.ts";

describe("a time that somebody types", () => {
  it.each([
    ["2026-01-31", "2026-01-31T00:00:00.000Z"],
    ["2026-01-31T12:00", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31T12:00:30.5", "2026-01-31T12:00:30.500Z"],
    ["2026-01-31T12:00Z", "2026-01-31T12:00:00.000Z"],
    ["2026-01-31T12:00+05:45", "2026-01-31T06:15:00.000Z"],
  ])("reads %s as %s, in any zone of the machine", (text, iso) => {
    expect(parseMoment(text)?.toISOString()).toBe(iso);
  });

  it.each(["", "yesterday", "2026", "2026-02-31", "2026-02-31T12:00Z", "2026-01-31T25:00Z", "31/01/2026"])(
    "refuses %j",
    (text) => expect(parseMoment(text)).toBeUndefined(),
  );
});
