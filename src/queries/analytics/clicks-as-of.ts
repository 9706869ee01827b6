// Up to when the clicks are counted that analytics answer, for `as_of` while the projector catches up.
import { nextEventFinder } from "../../event-store/next-event.ts";
import type { EventStore } from "../../event-store/port.ts";
import { clickProjections } from "../../projections/groups.ts";
import { checkpointName } from "../../projections/projection.ts";
import type { ReadStore } from "../../read-store/port.ts";

export type ClicksAsOfDeps = {
  eventStore: Pick<EventStore, "head" | "readAll">;
  readStore: Pick<ReadStore, "checkpoints">;
};

/** Clicks are counted within two seconds, unless there are more than can be folded. */
const LATE_MS = 5_000;
const PREFIXES = [...new Set(clickProjections.flatMap(({ prefixes }) => prefixes))];

/**
 * The time of the first click that is not counted yet (ISO 8601 UTC), when it was recorded more than five seconds ago;
 * undefined while analytics are up to date. To be called before the documents are read. @throws what the stores throw
 */
export function clicksAsOf({
  eventStore,
  readStore,
}: ClicksAsOfDeps): (now: Date) => Promise<string | undefined> {
  const next = nextEventFinder(eventStore, PREFIXES);
  return async (now) => {
    const checkpoints = await readStore.checkpoints();
    const positions = clickProjections.map((one) => checkpoints[checkpointName(one)]?.position ?? "");
    const first = await next(positions.sort()[0] || undefined);
    return first && now.getTime() - Date.parse(first.recordedAt) > LATE_MS ? first.recordedAt : undefined;
  };
}
