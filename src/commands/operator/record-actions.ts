// Appends what the operator does to `operator-<yyyymm>`, so that it can be audited like what everybody else does.
import type { EventStore } from "../../event-store/port.ts";
import type { OperatorEvent } from "../../events/catalogue.ts";
import { newEvent } from "../../events/new-event.ts";
import { operatorStream } from "../../events/streams.ts";
import type { CommandContext } from "../caller.ts";

export type RecordDeps = { eventStore: Pick<EventStore, "append">; clock: () => Date; newId: () => string };

/** An event without its time, which is that of the append. */
export type OperatorAction = {
  [E in OperatorEvent as E["type"]]: { type: E["type"]; data: Omit<E["data"], "at"> };
}[OperatorEvent["type"]];

/** No action depends on earlier ones, so nothing is loaded and no revision is expected. @throws StoreUnavailable */
export async function recordActions(
  { eventStore, clock, newId }: RecordDeps,
  { requestId }: Pick<CommandContext, "requestId">,
  actions: readonly OperatorAction[],
): Promise<void> {
  if (actions.length === 0) return;
  const now = clock();
  const at = now.toISOString();
  const origin = { correlationId: requestId, causationId: requestId, actor: { type: "operator" } } as const;
  const events = actions.map(({ type, data }) => {
    const event = { type, data: { at, ...data } } as OperatorEvent;
    return newEvent(event, newId(), origin);
  });
  await eventStore.append(operatorStream(now), "any", events);
}
