// What a build under the present rules changes: how many clicks move from which kind, device or browser to which.

import type { LinkClicked, StoredEvent } from "../../events/catalogue.ts";
import type { Classified } from "../../events/classification/classify.ts";
import { classifiedNow } from "../../events/classification/reclassify.ts";
import { readableEvent } from "../../events/read-event.ts";
import { CATEGORY } from "../../events/streams.ts";
import { UNKNOWN } from "../../events/vocabulary.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import { type EventStore, START } from "../../stores/event-store/port.ts";
import { withdrawnOfAll } from "./read-withdrawals.ts";

const FIELDS = {
  kind: ({ kind }) => kind,
  device: ({ device }) => device,
  browser: ({ browser }) => browser?.name ?? UNKNOWN,
  os: ({ os }) => os?.name ?? UNKNOWN,
} as const satisfies Record<string, (of: Classified) => string>;

type MovedField = keyof typeof FIELDS;

/** `of`: what moves, most clicks first; at most MOST_MOVES, `others`: clicks of the rest. */
type MovedClicks = {
  clicks: number;
  /** Events among them that can't be read. */
  unreadable: number;
  moved: number;
  of: { field: MovedField; from: string; to: string; clicks: number }[];
  others: number;
};

const PAGE = 5_000;
const MOST_MOVES = 100;
/** User agents are chosen by strangers: what is kept of them is bounded. */
const MOST_KEPT = 10_000;

/**
 * Reads the clicks up to the head of the log at the call, without those that are withdrawn. `rules`: of the build; clicks
 * recorded under them stay as they are. @throws EventNewer, StoreUnavailable
 */
export async function movedClicks(
  { eventStore }: { eventStore: Pick<EventStore, "readAll" | "head"> },
  rules: string,
): Promise<MovedClicks> {
  const isWithdrawn = await withdrawnOfAll({ eventStore });
  const upTo = await eventStore.head();
  const moves = new Map<string, number>();
  const counts = { clicks: 0, unreadable: 0, moved: 0, others: 0 };
  for await (const { events: page } of logPages(eventStore, {
    after: START,
    upTo,
    categories: [CATEGORY.clicks],
    limit: PAGE,
  }))
    for (const recorded of page) {
      const event = readableEvent(recorded, () => {
        counts.unreadable += 1;
      });
      if (event?.type !== "LinkClicked" || isWithdrawn({ ...event.data, position: event.position })) continue;
      counts.clicks += 1;
      if (event.data.rules !== rules && count(event)) counts.moved += 1;
    }
  const largest = [...moves].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1));
  const rest = largest.slice(MOST_MOVES).reduce((sum, [, clicks]) => sum + clicks, 0);
  return {
    ...counts,
    of: largest.slice(0, MOST_MOVES).map(([key, clicks]) => {
      const [field, from, to] = JSON.parse(key) as [MovedField, string, string];
      return { field, from, to, clicks };
    }),
    others: counts.others + rest,
  };

  /** Whether anything of the click moves. */
  function count(event: StoredEvent & LinkClicked): boolean {
    const now = classifiedNow(event);
    let hasMoved = false;
    for (const [field, read] of Object.entries(FIELDS)) {
      const [from, to] = [read(event.data), read(now)];
      if (from === to) continue;
      hasMoved = true;
      const key = JSON.stringify([field, from, to]);
      const known = moves.get(key);
      if (known === undefined && moves.size >= MOST_KEPT) counts.others += 1;
      else moves.set(key, (known ?? 0) + 1);
    }
    return hasMoved;
  }
}
