// Reads from the log which withdrawals of clicks are in force: of one link, or of all. One that can't be read is not.

import { readableEvent } from "../../events/read-event.ts";
import { CATEGORY, PREFIX, withdrawalStream } from "../../events/streams.ts";
import {
  isWithdrawnBy,
  type WithdrawableClick,
  type Withdrawal,
  withdrawalsAfter,
} from "../../events/withdrawals.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import { type EventStore, type Position, START } from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";

const PAGE = 1_000;

/** In force as of the event at `upTo`, that one included; by default as of now. @throws EventNewer, StoreUnavailable */
export async function withdrawalsOf(
  { eventStore }: { eventStore: Pick<EventStore, "read"> },
  link: string,
  upTo?: Position,
): Promise<readonly Withdrawal[]> {
  let inForce: readonly Withdrawal[] = [];
  for await (const page of streamPages(eventStore, withdrawalStream(link)))
    for (const recorded of page) {
      if (upTo !== undefined && recorded.position > upTo) return inForce;
      const event = readableEvent(recorded);
      if (event) inForce = withdrawalsAfter(inForce, event);
    }
  return inForce;
}

/** Whether a click of any link is withdrawn as of the event at `upTo`, by default as of now. @throws EventNewer, StoreUnavailable */
export async function withdrawnOfAll(
  { eventStore }: { eventStore: Pick<EventStore, "readAll"> },
  upTo?: Position,
): Promise<(click: WithdrawableClick & { link: string }) => boolean> {
  const byLink = new Map<string, readonly Withdrawal[]>();
  const part = { after: START, upTo, categories: [CATEGORY.withdrawals], limit: PAGE };
  for await (const { events: page } of logPages(eventStore, part))
    for (const recorded of page) {
      const link = recorded.stream.slice(PREFIX.withdrawals.length);
      const event = readableEvent(recorded);
      if (event) byLink.set(link, withdrawalsAfter(byLink.get(link) ?? [], event));
    }
  const withdrawn = new Map([...byLink].map(([link, inForce]) => [link, isWithdrawnBy(inForce)]));
  return (click) => withdrawn.get(click.link)?.(click) ?? false;
}
