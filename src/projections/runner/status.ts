// What an operator sees of the projections: how far each is, how late, and whether it is faulted.
import { type NextEvent, nextEventFinder } from "../../event-store/next-event.ts";
import type { EventStore, RecordedEvent } from "../../event-store/port.ts";
import type { Checkpoint, ReadStore } from "../../read-store/port.ts";
import { answeringBuild, asBuild, type Builds, buildingOf, foldedBuild } from "../builds/build.ts";
import { readBuilds } from "../builds/builds-document.ts";
import { checkpointName, type Projection } from "../projection.ts";
import type { Progress } from "./progress.ts";

/** Beyond this a process does not count as ready: its analytics are too old. */
export const LATE_MS = 60_000;

/** `head` is the whole store's; `behind` and `lagMs` count only events of streams that the projection reads. */
export type ProjectionStatus = {
  name: string;
  version: number;
  build: number;
  position: string | null;
  head: string | null;
  behind: boolean;
  /** Age of the oldest event not yet folded, in milliseconds; 0 when there is none. */
  lagMs: number;
  fault: Checkpoint["fault"] | null;
  /** Events passed since the runner started. */
  processed: number;
  /** What queries are answered from: this build, another until this one has taken over, or nothing yet. */
  answers: "this" | "other" | "nothing";
  /** Of a build in the making, and of a projection that is late and catches up in this process. */
  catchUp?: Progress;
};

type Deps = { eventStore: EventStore; readStore: ReadStore; clock: () => Date };

/** From the committed checkpoints, so that it tells the same in every process. `next`: of the projections' prefixes. */
export async function statusOf(
  deps: Deps,
  folds: readonly { projection: Projection; processed: number }[],
  next: NextEvent,
): Promise<ProjectionStatus[]> {
  const head = (await deps.eventStore.head()) ?? null;
  const checkpoints = await deps.readStore.checkpoints();
  const waiting = new Map<string, RecordedEvent | undefined>();
  const statuses: ProjectionStatus[] = [];
  for (const { projection, processed } of folds) {
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
      answers: "this",
    });
  }
  return statuses;
}

/** Each as the build that this program folds, else as the one in the making. `processed`: by checkpoint name. */
export async function buildsStatus(
  deps: Deps & { projections: readonly Projection[] },
  next: NextEvent,
  processed: ReadonlyMap<string, number> = new Map(),
): Promise<ProjectionStatus[]> {
  const builds = await readBuilds(deps.readStore);
  const shown = deps.projections.map((projection) => shownBuild(projection, builds));
  const folds = shown.map((projection) => ({
    projection,
    processed: processed.get(checkpointName(projection)) ?? 0,
  }));
  const statuses = await statusOf(deps, folds, next);
  return statuses.map((status, n) => {
    const projection = deps.projections[n] as Projection;
    const answering = answeringBuild(projection, builds);
    const isThis = answering?.version === projection.version && answering.build === status.build;
    const building = buildingOf(projection, builds);
    return {
      ...status,
      answers: isThis ? "this" : answering ? "other" : "nothing",
      ...(building && building.build === status.build ? { catchUp: building.progress } : {}),
    };
  });
}

/** What a process that runs none of these projections can tell of them. */
export function projectionStatus(
  deps: Deps & { projections: readonly Projection[] },
): () => Promise<ProjectionStatus[]> {
  const next = nextEventFinder(deps.eventStore, prefixesOf(deps.projections));
  return () => buildsStatus(deps, next);
}

export function prefixesOf(projections: readonly Projection[]): string[] {
  return [...new Set(projections.flatMap(({ prefixes }) => prefixes))];
}

function shownBuild(projection: Projection, builds: Builds): Projection {
  const building = buildingOf(projection, builds);
  return (
    foldedBuild(projection, builds) ??
    (building && asBuild(projection, building)) ??
    answeringBuild(projection, builds) ??
    projection
  );
}
