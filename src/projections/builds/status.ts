// The status of a group for health, metrics and the command line: position, lag, events set aside and build progress.
import { readSetAside, type SetAside } from "../../stores/coordination/set-aside.ts";
import { isOfThisLog } from "../../stores/event-store/foreign-position.ts";
import { msBehind, type NextEvent, nextEventFinder } from "../../stores/event-store/next-event.ts";
import { type EventStore, type Position, START } from "../../stores/event-store/port.ts";
import type { AwaitedEvent, ReadStore } from "../../stores/read-store/port.ts";
import { type Build, checkpointName, notesName } from "../fold/build.ts";
import type { Progress } from "../fold/progress.ts";
import type { ProjectionGroup } from "../groups.ts";
import { type Builds, buildingOf, isSame, keptBuild, queriedBuild } from "./builds.ts";
import { buildsIn, buildsName } from "./builds-document.ts";

/** Lag beyond which a group is late: readiness tells so. */
export const DEGRADED_AFTER_MS = 60_000;

/** `head`: of the whole event store; `behind` and `lagMs`: by the streams that the group reads. */
export type GroupStatus = {
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
  /** Events passed since the process started. */
  processed: number;
  /** Which build queries read: this one, another until this one is active, or none. */
  answers: "this" | "other" | "nothing";
  /** Whether the documents were folded from another log than the one that is there. */
  isOfOtherLog: boolean;
  /** Why the process that folds can't, and what to do; known to that process alone. */
  failure?: string;
  /** Of the build in the making, and why nothing else answers. */
  building?: { progress: Progress; because?: string };
};

type Deps = { eventStore: EventStore; readStore: ReadStore; clock: () => Date };

/** Reads it from the stores alone, so that it is the same in every process. */
export function groupStatus(deps: Deps, group: ProjectionGroup): () => Promise<GroupStatus> {
  const next = nextEventFinder(deps.eventStore, group.categories);
  return () => statusOf(deps, group, next);
}

/** Of the build that this program folds, else of the one in the making. @throws what the stores throw */
async function statusOf(
  { eventStore, readStore, clock }: Deps,
  group: ProjectionGroup,
  next: NextEvent,
): Promise<GroupStatus> {
  const checkpoints = await readStore.checkpoints();
  const builds = buildsIn(checkpoints[buildsName(group)]);
  // After the checkpoints, as one behind it is of a log that was restored.
  const head = await eventStore.head();
  const shown = shownBuild(group, builds);
  const checkpoint = checkpoints[checkpointName(group, shown)];
  const position = checkpoint?.position ?? START;
  const first = await next(position);
  const queried = queriedBuild(group, builds);
  const building = buildingOf(group, builds);
  return {
    name: group.name,
    version: shown.version,
    build: shown.build,
    position: shownPosition(position),
    head: shownPosition(head),
    behind: first !== undefined,
    lagMs: msBehind(first, clock()),
    waitsFor: checkpoint?.waitsFor ?? null,
    setAside: await readSetAside(readStore, notesName(group, shown), checkpoint),
    processed: 0,
    answers: isSame(queried, shown) ? "this" : queried ? "other" : "nothing",
    isOfOtherLog: checkpoint !== undefined && !(await isOfThisLog({ eventStore }, checkpoint)),
    ...(building && {
      building: { progress: building.progress, ...(building.because && { because: building.because }) },
    }),
  };
}

function shownPosition(position: Position): Position | null {
  return position === START ? null : position;
}

function shownBuild(group: ProjectionGroup, builds: Builds): Build {
  const shown = keptBuild(group, builds) ?? buildingOf(group, builds) ?? queriedBuild(group, builds);
  return shown ?? { version: group.version, build: builds.next };
}

/** How many events it has still to fold, at most MOST_COUNTED. @throws StoreUnavailable */
export async function countBehind(
  eventStore: Pick<EventStore, "readAll">,
  group: Pick<ProjectionGroup, "categories">,
  { position, behind }: GroupStatus,
): Promise<number> {
  if (!behind) return 0;
  const part = { after: position ?? START, categories: group.categories, limit: MOST_COUNTED };
  return (await eventStore.readAll(part)).events.length;
}

/** Bounds the cost of a count during a long catch-up. */
const MOST_COUNTED = 1_000;
