// What an operator sees of the projections: how far each is, how late, and whether it is faulted.
import { type NextEvent, nextEventFinder } from "../event-store/next-event.ts";
import type { EventStore, RecordedEvent } from "../event-store/port.ts";
import type { Checkpoint, ReadStore } from "../read-store/port.ts";
import { liveOf, readBuilds } from "./builds.ts";
import { checkpointName } from "./checkpoint-name.ts";
import type { Progress } from "./progress.ts";
import type { Projection } from "./projection.ts";

/** Beyond this a process does not count as ready: its analytics are too old. */
export const LATE_MS = 60_000;

/** `head` is the whole store's; `behind` and `lagMs` count only events of streams that the projection reads. */
export type ProjectionStatus = {
  name: string;
  version: number;
  /** Which build is live; 0 when it was never rebuilt. */
  build: number;
  position: string | null;
  head: string | null;
  behind: boolean;
  /** Age of the oldest event not yet folded, in milliseconds; 0 when there is none. */
  lagMs: number;
  fault: Checkpoint["fault"] | null;
  /** Events passed since the runner started. */
  processed: number;
  /** Of a projection that is late and catches up in this process. */
  catchUp?: Progress;
};

type Deps = { eventStore: EventStore; readStore: ReadStore; clock: () => Date };

/** From the committed checkpoints, so that it tells the same in every process. `next`: of the runner's prefixes. */
export async function statusOf(
  deps: Deps,
  courses: readonly { projection: Projection; processed: number }[],
  next: NextEvent,
): Promise<ProjectionStatus[]> {
  const head = (await deps.eventStore.head()) ?? null;
  const builds = await readBuilds(deps.readStore);
  const checkpoints = await deps.readStore.checkpoints();
  const waiting = new Map<string, RecordedEvent | undefined>();
  const statuses: ProjectionStatus[] = [];
  for (const { projection: named, processed } of courses) {
    const projection = liveOf(named, builds);
    const checkpoint = checkpoints[checkpointName(projection)];
    const position = checkpoint?.position || null;
    const at = position ?? "";
    if (!waiting.has(at)) waiting.set(at, await next(position ?? undefined));
    const first = waiting.get(at);
    statuses.push({
      name: projection.name,
      version: projection.version,
      build: projection.build ?? 0,
      position,
      head,
      behind: first !== undefined,
      lagMs: first ? Math.max(0, deps.clock().getTime() - Date.parse(first.recordedAt)) : 0,
      fault: checkpoint?.fault ?? null,
      processed,
    });
  }
  return statuses;
}

/** What a process that runs none of these projections can tell of them. */
export function projectionStatus(
  deps: Deps & { projections: readonly Projection[] },
): () => Promise<ProjectionStatus[]> {
  const courses = deps.projections.map((projection) => ({ projection, processed: 0 }));
  const next = nextEventFinder(deps.eventStore, prefixesOf(deps.projections));
  return () => statusOf(deps, courses, next);
}

export function prefixesOf(projections: readonly Projection[]): string[] {
  return [...new Set(projections.flatMap(({ prefixes }) => prefixes))];
}
