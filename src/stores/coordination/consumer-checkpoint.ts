// Where a consumer of the log, such as the webhooks' router, goes on: its checkpoint, and which events it has passed.
import { isOfThisLog } from "../event-store/foreign-position.ts";
import type { EventStore } from "../event-store/port.ts";
import type { Checkpoint, ReadStore } from "../read-store/port.ts";
import { readSetAside, type SetAside, setAsideCollection } from "../read-store/set-aside.ts";

export const ROUTER_CHECKPOINT = "webhooks-router";
export const ROUTER_NOTES = setAsideCollection(ROUTER_CHECKPOINT);

type Deps = {
  eventStore: Pick<EventStore, "head" | "readAll">;
  readStore: Pick<ReadStore, "checkpoint" | "dropCheckpoint">;
};

/**
 * `categories`: of the event at the checkpoint. Undefined for a consumer that begins with the first event: one without a
 * checkpoint, or whose checkpoint is of another log, as after an older copy was put back; that one is removed, and
 * `onForeign` is told of it.
 */
export async function consumerCheckpoint(
  deps: Deps,
  name: string,
  categories: readonly string[],
  onForeign: (checkpoint: Checkpoint) => void = () => undefined,
): Promise<Checkpoint | undefined> {
  const stored = await deps.readStore.checkpoint(name);
  if (stored === undefined || (await isOfThisLog(deps, stored, categories))) return stored;
  await deps.readStore.dropCheckpoint(name);
  onForeign(stored);
  return undefined;
}

/** Events that the router has passed. @throws what the store throws */
export async function routerSetAside(readStore: Pick<ReadStore, "find" | "checkpoint">): Promise<SetAside> {
  return await readSetAside(readStore, ROUTER_NOTES, await readStore.checkpoint(ROUTER_CHECKPOINT));
}
