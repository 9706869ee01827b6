// What an operator sees of the projections: how far each is, how late, and whether it is faulted.
import type { EventStore, RecordedEvent } from "../event-store/port.ts";
import type { Checkpoint, ReadStore } from "../read-store/port.ts";
import { checkpointName } from "./checkpoint-name.ts";
import type { Projection } from "./projection.ts";

/** `head` is the whole store's; `behind` and `lagMs` count only events of streams that the projection reads. */
export type ProjectionStatus = {
  name: string;
  version: number;
  position: string | null;
  head: string | null;
  behind: boolean;
  /** Age of the oldest event not yet folded, in milliseconds; 0 when there is none. */
  lagMs: number;
  fault: Checkpoint["fault"] | null;
  /** Events passed since the runner started. */
  processed: number;
};

type Deps = { eventStore: EventStore; readStore: ReadStore; clock: () => Date };

/** From the committed checkpoints, so that it tells the same in every process. `prefixes`: those of the runner. */
export async function statusOf(
  deps: Deps,
  courses: readonly { projection: Projection; processed: number }[],
  prefixes: readonly string[],
): Promise<ProjectionStatus[]> {
  const head = (await deps.eventStore.head()) ?? null;
  const checkpoints = await deps.readStore.checkpoints();
  const next = new Map<string, RecordedEvent | undefined>();
  const statuses: ProjectionStatus[] = [];
  for (const { projection, processed } of courses) {
    const checkpoint = checkpoints[checkpointName(projection)];
    const position = checkpoint?.position || null;
    const at = position ?? "";
    if (!next.has(at)) {
      const [event] = await deps.eventStore.readAll({ after: position ?? undefined, prefixes, limit: 1 });
      next.set(at, event);
    }
    const waiting = next.get(at);
    statuses.push({
      name: projection.name,
      version: projection.version,
      position,
      head,
      behind: waiting !== undefined,
      lagMs: waiting ? Math.max(0, deps.clock().getTime() - Date.parse(waiting.recordedAt)) : 0,
      fault: checkpoint?.fault ?? null,
      processed,
    });
  }
  return statuses;
}
