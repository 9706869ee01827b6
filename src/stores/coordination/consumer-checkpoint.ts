// Where a consumer of the log, such as the job that closes accounts, goes on: its checkpoint.
import { isOfThisLog } from "../event-store/foreign-position.ts";
import type { EventStore } from "../event-store/port.ts";
import type { Checkpoint, ReadStore } from "../read-store/port.ts";

type Deps = {
  eventStore: Pick<EventStore, "head" | "idAt">;
  readStore: Pick<ReadStore, "checkpoint" | "dropCheckpoint">;
};

/**
 * Undefined for a consumer that begins with the first event: one without a
 * checkpoint, or whose checkpoint is of another log, as after an older copy was put back; that one is removed.
 */
export async function consumerCheckpoint(deps: Deps, name: string): Promise<Checkpoint | undefined> {
  const stored = await deps.readStore.checkpoint(name);
  if (stored === undefined || (await isOfThisLog(deps, stored))) return stored;
  await deps.readStore.dropCheckpoint(name);
  return undefined;
}
