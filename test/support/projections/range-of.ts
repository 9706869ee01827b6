// Asks for ranges of a link as the API does, with the log read in this thread.
import { lastClickRecordedBy } from "../../../src/queries/analytics/ranges/as-of.ts";
import { foldDayParts } from "../../../src/queries/analytics/ranges/day-parts.ts";
import type { LogParts } from "../../../src/queries/analytics/ranges/days-in-range.ts";
import {
  type RangeAnalytics,
  rangeAnalytics,
} from "../../../src/queries/analytics/ranges/range-analytics.ts";
import { parseRange, type RangeParameters } from "../../../src/queries/analytics/ranges/range-request.ts";
import { findOwnLink } from "../../../src/queries/links/find-link.ts";
import { ACCOUNT } from "../event-store/stored-events.ts";
import type { Stores } from "../runtime/stores.ts";

export type AskRange = (given: RangeParameters, slug?: string) => Promise<RangeAnalytics>;

/** Of links of ACCOUNT on `sho.rt`. `parts`: to count or replace the reads of the log. */
export function rangesOf(
  stores: Pick<Stores, "eventStore" | "readStore">,
  now: Date,
  parts?: LogParts,
): AskRange {
  const logParts = parts ?? logPartsOf(stores);
  const ask = rangeAnalytics({ ...stores, sleep: async () => undefined, logParts });
  return async (given, slug = "abc") => {
    const request = parseRange(given);
    return await ask(
      await findOwnLink({ ...stores, baseHost: "sho.rt" }, { accountId: ACCOUNT }, slug),
      request,
      now,
    );
  };
}

export function logPartsOf({ eventStore }: Pick<Stores, "eventStore">): LogParts {
  return {
    dayParts: (link, parts, asOf) => foldDayParts({ eventStore }, link, parts, asOf),
    lastClickRecordedBy: (time, after, upTo) => lastClickRecordedBy({ eventStore }, time, after, upTo),
  };
}
