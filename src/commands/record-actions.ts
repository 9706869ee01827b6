// Appends what the operator does to `operator-<yyyymm>`, so that it can be audited like what everybody else does.

import type { OperatorEvent } from "../events/catalogue.ts";
import { newEvent } from "../events/new-event.ts";
import { operatorStream } from "../events/streams.ts";
import { type EventStore, RevisionConflict } from "../stores/event-store/port.ts";
import type { CommandContext } from "./caller.ts";

export type RecordDeps = {
  eventStore: Pick<EventStore, "append" | "read">;
  clock: () => Date;
  newId: () => string;
};

/** An event without its time, which is that of the append. */
export type OperatorAction = {
  [E in OperatorEvent as E["type"]]: { type: E["type"]; data: Omit<E["data"], "at"> };
}[OperatorEvent["type"]];

/** No action depends on earlier ones, so one that comes first is no conflict. @throws StoreUnavailable */
export async function recordActions(
  { eventStore, clock, newId }: RecordDeps,
  { requestId, actor }: CommandContext,
  actions: readonly OperatorAction[],
): Promise<void> {
  if (actions.length === 0) return;
  const now = clock();
  const at = now.toISOString();
  const origin = { correlationId: requestId, causationId: requestId, actor };
  const events = actions.map(({ type, data }) => {
    const event = { type, data: { at, ...data } } as OperatorEvent;
    return newEvent(event, newId(), origin);
  });
  const stream = operatorStream(now);
  for (;;) {
    const [last] = await eventStore.read(stream, { backwards: true, limit: 1 });
    try {
      await eventStore.append(stream, last?.revision ?? "none", events);
      return;
    } catch (error) {
      if (!(error instanceof RevisionConflict)) throw error;
    }
  }
}
