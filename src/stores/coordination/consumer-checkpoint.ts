// Where a consumer of the log, such as the webhooks' router, goes on: its checkpoint, and which events it has passed.
import { isOwnPosition } from "../event-store/foreign-position.ts";
import type { EventStore, Position } from "../event-store/port.ts";
import type { ReadStore } from "../read-store/port.ts";
import { readSetAside, type SetAside, setAsideCollection } from "../read-store/set-aside.ts";

export const ROUTER_CHECKPOINT = "webhooks-router";
export const ROUTER_NOTES = setAsideCollection(ROUTER_CHECKPOINT);

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

/** Events that the router has passed. @throws what the store throws */
export async function routerSetAside(readStore: Pick<ReadStore, "find" | "checkpoint">): Promise<SetAside> {
  return await readSetAside(readStore, ROUTER_NOTES, await readStore.checkpoint(ROUTER_CHECKPOINT));
}
