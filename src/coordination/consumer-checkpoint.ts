// Where a consumer of the log goes on, such as the webhooks' router: its checkpoint, if it is one of this log.
import { isOwnPosition } from "../event-store/foreign-position.ts";
import type { EventStore, Position } from "../event-store/port.ts";
import type { ReadStore } from "../read-store/port.ts";

type Deps = {
  eventStore: Pick<EventStore, "head">;
  readStore: Pick<ReadStore, "checkpoint" | "resetCheckpoint">;
};

/**
 * Undefined for a consumer that begins with the first event: one without a checkpoint, or whose checkpoint lies beyond the
 * end of the log, which was restored. From there on it would pass over what is appended up to it; checkpoints never move
 * back, so that one is removed.
 */
export async function consumerCheckpoint(deps: Deps, name: string): Promise<Position | undefined> {
  const { position } = (await deps.readStore.checkpoint(name)) ?? {};
  if (position === undefined || (await isOwnPosition(deps, position))) return position;
  await deps.readStore.resetCheckpoint(name);
  return undefined;
}
