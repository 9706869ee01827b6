// Which clicks of a link a withdrawal would take out of the numbers: how many of each kind and day, and the latest.

import type { MatchingClicks } from "../../commands/withdrawals/decide-withdrawal.ts";
import { linkKey, linkStream } from "../../events/streams.ts";
import { isSelectedBy, isWithdrawnBy, type WithdrawnSelection } from "../../events/withdrawals.ts";
import { withdrawalsOf } from "../../projections/fold/read-withdrawals.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import { clicksInLog } from "./clicks-in-log.ts";

const SAMPLES = 5;

/** Reads all clicks recorded since the link was created, up to the end of the log at the call. @throws StoreUnavailable */
export async function matchingClicks(
  { eventStore }: { eventStore: EventStore },
  { host, slug }: { host: string; slug: string },
  selection: WithdrawnSelection,
): Promise<MatchingClicks> {
  const link = linkKey(host, slug);
  const withdrawals = await withdrawalsOf({ eventStore }, link);
  const isWithdrawn = isWithdrawnBy(withdrawals);
  const isSelected = isSelectedBy(selection);
  const upTo = await eventStore.head();
  const matching: MatchingClicks = {
    upTo,
    matched: 0,
    counted: 0,
    inForce: withdrawals.map(({ withdrawalId }) => withdrawalId),
    kinds: { click: 0, preview: 0, qr_scan: 0 },
    days: {},
    samples: [],
  };
  const [created] = await eventStore.read(linkStream(host, slug), { limit: 1 });
  if (!created) return matching;
  for await (const clicks of clicksInLog({ eventStore }, { link }, { after: created.position, upTo })) {
    for (const click of clicks) {
      if ("unreadable" in click || !isSelected(click.data)) continue;
      const { data, position } = click;
      matching.matched += 1;
      if (isWithdrawn({ ...data, position })) continue;
      matching.counted += 1;
      matching.kinds[data.kind] += 1;
      const day = data.at.slice(0, 10);
      matching.days[day] = (matching.days[day] ?? 0) + 1;
      matching.samples.push(data);
    }
    matching.samples = matching.samples.sort((a, b) => (a.at < b.at ? 1 : -1)).slice(0, SAMPLES);
  }
  matching.days = Object.fromEntries(Object.entries(matching.days).sort());
  return matching;
}
