// What a request for a range of time asks for, from the text of its parameters.

import { Refused } from "../../commands/refusals.ts";
import { CLICK_KINDS, type ClickKind } from "../../events/vocabulary.ts";
import { parseLocalMoment } from "../../runtime/moment.ts";
import type { Position } from "../../stores/event-store/port.ts";
import type { Interval } from "./intervals.ts";
import { instantOf, type TimeZone, zoneNamed } from "./time-zone.ts";

/** As asked; times are ISO 8601, in `timezone` where they have no offset. */
export type RangeParameters = {
  from?: string | undefined;
  to?: string | undefined;
  interval?: Interval | undefined;
  timezone?: string | undefined;
  kind?: ClickKind | undefined;
  /** A time, or a position of the log. */
  as_of?: string | undefined;
};

/** `from` inclusive, `to` exclusive, in milliseconds. `interval`: undefined for one that fits the length of the range. */
export type RangeRequest = {
  from: number | undefined;
  to: number | undefined;
  interval: Interval | undefined;
  zone: TimeZone;
  kinds: readonly ClickKind[];
  asOf: { time: number } | { position: Position } | undefined;
};

const POSITION = /^\d{20}(?::\d{20})?$/;
/** Further years have another format in UTC, and times are stored and compared as text. */
const [FIRST, LAST] = [Date.parse("0000-01-01T00:00:00.000Z"), Date.parse("9999-12-31T23:59:59.999Z")];

/** @throws invalid_range */
export function parseRange(asked: RangeParameters): RangeRequest {
  const { timezone = "UTC", interval = "day", kind } = asked;
  const zone = zoneNamed(timezone);
  const time = (name: "from" | "to") => {
    const text = asked[name];
    return text === undefined ? undefined : timeOf(text, zone, name);
  };
  const request = {
    from: time("from"),
    to: time("to"),
    interval,
    zone,
    kinds: kind ? [kind] : CLICK_KINDS,
    asOf: asked.as_of === undefined ? undefined : momentIn(asked.as_of, zone, "as_of"),
  };
  if (request.from !== undefined && request.to !== undefined && request.from >= request.to)
    throw new Refused("invalid_range", "from must be before to", { field: "from" });
  return request;
}

/** A time, or a position of the log. @throws invalid_range */
export function momentIn(text: string, zone: TimeZone, name: string): NonNullable<RangeRequest["asOf"]> {
  if (POSITION.test(text)) return { position: text };
  return { time: timeOf(text, zone, name, ", or a position of the log") };
}

/**
 * The milliseconds of an ISO 8601 time, of `zone` where it has no offset; within the years 0 to 9999 of UTC.
 * @throws invalid_range
 */
export function timeOf(text: string, zone: TimeZone, name: string, alternative = ""): number {
  // A `+` that wasn't encoded in the URL arrives as a space.
  const moment = parseLocalMoment(text.replace(/(?<=:\d\d.*) (?=\d\d:?\d\d$)/, "+"));
  if (!moment)
    throw new Refused(
      "invalid_range",
      `${name} must be a time in ISO 8601, such as 2026-11-01 or 2026-11-01T09:30:00+01:00${alternative}`,
      { field: name },
    );
  const { local, offset } = moment;
  const instant = offset === undefined ? instantOf(zone, local, "later") : local - offset;
  return Math.min(Math.max(instant, FIRST), LAST);
}
