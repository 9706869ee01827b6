// What a question about changes of numbers asks for, from the text of its parameters.
import { Refused } from "../../../commands/refusals.ts";
import type { EventStore } from "../../../stores/event-store/port.ts";
import { refuseForeignPosition } from "../../cursor.ts";
import { CLOCK_DIFFERENCE_MS } from "../link-numbers.ts";
import { momentIn, parseRange } from "../range.ts";
import type { ChangesRequest } from "./changes-of-numbers.ts";

/** As given; times are ISO 8601, in `timezone` where they have no offset. `since`, `until`: positions of the log, too. */
export type ChangesParameters = { since: string } & {
  [P in "until" | "from" | "to" | "timezone"]?: string | undefined;
};

/** @throws invalid_range, invalid_position */
export async function changesRequest(
  deps: { eventStore: Pick<EventStore, "head"> },
  { since, until, from: first, to: end, timezone }: ChangesParameters,
  now: Date,
): Promise<Omit<ChangesRequest, "accountId" | "filters">> {
  const { from, to, zone } = parseRange({ from: first, to: end, timezone });
  const momentOf = async (text: string, name: string) => {
    const moment = momentIn(text, zone, name);
    if ("position" in moment) await refuseForeignPosition(deps, moment.position);
    else if (moment.time > now.getTime() + CLOCK_DIFFERENCE_MS)
      throw new Refused("invalid_range", `${name} must not be in the future`);
    return moment;
  };
  const wanted = { from, to, since: await momentOf(since, "since") };
  if (until === undefined) return wanted;
  const later = await momentOf(until, "until");
  if ("time" in wanted.since && "time" in later && wanted.since.time > later.time)
    throw new Refused("invalid_range", "since must be before until");
  return { ...wanted, until: later };
}
