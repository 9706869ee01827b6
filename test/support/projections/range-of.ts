// Asks for the analytics of a link as the API does, with the log read in this thread.
import { currentAccounts } from "../../../src/commands/account/accounts.ts";
import { analytics, type LinkAnalytics } from "../../../src/queries/analytics/analytics.ts";
import { foldDayParts, type LogParts } from "../../../src/queries/analytics/day-parts.ts";
import { lastClickRecordedBy } from "../../../src/queries/analytics/log-positions.ts";
import { parseRange, type RangeParameters } from "../../../src/queries/analytics/range.ts";
import { findOwnLink } from "../../../src/queries/links/find-link.ts";
import { ACCOUNT } from "../event-store/stored-events.ts";
import type { Stores } from "../runtime/stores.ts";

export type AskRange = (given: RangeParameters, slug?: string) => Promise<LinkAnalytics>;

/** Of links of ACCOUNT on `sho.rt`. `parts`: to count or replace the reads of the log. */
export function rangesOf(
  stores: Pick<Stores, "eventStore" | "readStore">,
  now: Date,
  parts?: LogParts,
): AskRange {
  const logParts = parts ?? logPartsOf(stores);
  const ask = analytics({ ...stores, sleep: async () => undefined, logParts });
  return async (given, slug = "abc") => {
    const request = parseRange(given);
    const currentAccount = currentAccounts(stores.eventStore).current;
    const reading = { ...stores, baseHost: "sho.rt", currentAccount };
    const link = await findOwnLink(reading, { accountId: ACCOUNT }, { slug });
    return await ask.ofLink(link, request, now);
  };
}

export function logPartsOf({ eventStore }: Pick<Stores, "eventStore">): LogParts {
  return {
    dayParts: (link, parts, asOf) => foldDayParts({ eventStore }, link, parts, asOf),
    lastClickRecordedBy: (time, after, upTo) => lastClickRecordedBy({ eventStore }, time, after, upTo),
  };
}
