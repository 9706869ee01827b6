// Waits until all clicks and withdrawals up to a position of the log are in the tables.
import { ProjectionNotBuilt } from "../../projections/builds/errors.ts";
import { clicks as clickGroup } from "../../projections/groups.ts";
import { nextEventFinder } from "../../stores/event-store/next-event.ts";
import { type EventStore, type Position, START } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";

type Deps = {
  eventStore: Pick<EventStore, "head" | "readAll">;
  readStore: Pick<ReadStore, "checkpoint">;
  sleep: (ms: number) => Promise<void>;
};

/** Clicks are counted within two seconds, unless there are more than can be folded. */
const COUNTED_WITHIN_MS = 3_000;
const POLL_MS = 50;
const RETRY_AFTER_S = 2;

/** One for all that ask. It throws ProjectionNotBuilt after three seconds. */
export function whenCounted({ eventStore, readStore, sleep }: Deps): (position: Position) => Promise<void> {
  const next = nextEventFinder(eventStore, clickGroup.categories);
  return async (position) => {
    for (let waited = 0; ; waited += POLL_MS) {
      const checkpoint = await readStore.checkpoint(clickGroup.name);
      const counted = checkpoint?.position ?? START;
      const event = counted < position ? await next(counted) : undefined;
      // Withdrawals whose rows are being marked.
      if (!checkpoint?.more && (!event || event.position > position)) return;
      if (waited >= COUNTED_WITHIN_MS)
        throw new ProjectionNotBuilt("Clicks before that moment are still being counted", RETRY_AFTER_S);
      await sleep(POLL_MS);
    }
  };
}
