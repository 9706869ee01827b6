// The status of projections for health, metrics and the command line: position, lag, events set aside and build progress.

import { msBehind, type NextEvent, nextEventFinder } from "../../stores/event-store/next-event.ts";
import type { EventStore, RecordedEvent } from "../../stores/event-store/port.ts";
import type { AwaitedEvent, ReadStore } from "../../stores/read-store/port.ts";
import { readSetAside, type SetAside, setAsideCollection } from "../../stores/read-store/set-aside.ts";
import { asBuild, type Builds, buildingOf, foldedBuild, queriedBuild } from "../builds/build.ts";
import { readBuilds } from "../builds/builds-document.ts";
import { categoriesOf, checkpointName, type Projection } from "../projection.ts";
import type { Progress } from "./progress.ts";

/** Lag beyond which a projection is late: readiness tells so, and the log shows how it catches up. */
export const LATE_MS = 60_000;

/** `head`: of the whole event store; `behind` and `lagMs`: by the streams that the projection reads. */
export type ProjectionStatus = {
  name: string;
  version: number;
  build: number;
  position: string | null;
  head: string | null;
  behind: boolean;
  /** Age of the oldest event not yet folded, in milliseconds; 0 when there is none. */
  lagMs: number;
  /** The event of a newer program that it stands before. */
  waitsFor: AwaitedEvent | null;
  setAside: SetAside;
  /** Events passed since the runner started. */
  processed: number;
  /** Which build queries read: this one, another until this one is active, or none yet. */
  answers: "this" | "other" | "nothing";
  /** Why the process that folds can't, and what to do; known to that process alone. */
  failure?: string;
  /** For a build in progress, and for a late projection that catches up in this process. */
  catchUp?: Progress;
};

/** The log was restored from an older backup than the documents: they lack what is appended up to their position. */
export function isNewerThanLog(
  position: ProjectionStatus["position"],
  head: ProjectionStatus["head"],
): boolean {
  return position !== null && position > (head ?? "");
}

type Deps = {
  eventStore: EventStore;
  readStore: ReadStore;
  clock: () => Date;
  projections: readonly Projection[];
};

/**
 * For each projection the build that this program folds, else the one in progress. From the committed checkpoints, so it
 * is the same in every process. `next`: over the projections' categories; `processed`: by checkpoint name.
 */
export async function buildsStatus(
  { eventStore, readStore, clock, projections }: Deps,
  next: NextEvent,
  processed: ReadonlyMap<string, number> = new Map(),
): Promise<ProjectionStatus[]> {
  const builds = await readBuilds(readStore);
  const checkpoints = await readStore.checkpoints();
  // After the checkpoints, as isNewerThanLog compares them.
  const head = (await eventStore.head()) ?? null;
  const waiting = new Map<string, RecordedEvent | undefined>();
  const statuses: ProjectionStatus[] = [];
  for (const projection of projections) {
    const shown = shownBuild(projection, builds);
    const { version, build = 0 } = shown;
    const checkpoint = checkpoints[checkpointName(shown)];
    const at = checkpoint?.position ?? "";
    if (!waiting.has(at)) waiting.set(at, await next(at));
    const first = waiting.get(at);
    const queried = queriedBuild(projection, builds);
    const isThis = queried?.version === projection.version && queried.build === build;
    const building = buildingOf(projection, builds);
    statuses.push({
      name: projection.name,
      version,
      build,
      position: at || null,
      head,
      behind: first !== undefined,
      lagMs: msBehind(first, clock()),
      waitsFor: checkpoint?.waitsFor ?? null,
      setAside: await readSetAside(readStore, setAsideCollection(shown.collection.name), checkpoint),
      processed: processed.get(checkpointName(shown)) ?? 0,
      answers: isThis ? "this" : queried ? "other" : "nothing",
      ...(building?.build === build && { catchUp: building.progress }),
    });
  }
  return statuses;
}

/** For a process that doesn't run these projections: read from the stores alone. */
export function projectionStatus(deps: Deps): () => Promise<ProjectionStatus[]> {
  const next = nextEventFinder(deps.eventStore, categoriesOf(deps.projections));
  return () => buildsStatus(deps, next);
}

function shownBuild(projection: Projection, builds: Builds): Projection {
  const building = buildingOf(projection, builds);
  return (
    foldedBuild(projection, builds) ??
    (building && asBuild(projection, building)) ??
    queriedBuild(projection, builds) ??
    projection
  );
}
