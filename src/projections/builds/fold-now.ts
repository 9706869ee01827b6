// For commands: folds what is queried to the end of the log, and builds until they have taken over, or watches who does.

import { Failure } from "../../runtime/errors.ts";
import { pause } from "../../runtime/pause.ts";
import { isOfThisLog } from "../../stores/event-store/foreign-position.ts";
import { START } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { type Build, checkpointName, collectionsOf } from "../fold/build.ts";
import { foldBuild } from "../fold/fold-build.ts";
import type { ProjectionGroup } from "../groups.ts";
import { type Builds, buildingOf, isSame, keptBuild, queriedBuild } from "./builds.ts";
import { changeBuilds, readBuilds } from "./builds-document.ts";
import { type CompleteDeps, completeBuild, type Outcome } from "./complete-build.ts";
import { dropRetired, registerBuilds } from "./register-builds.ts";

/** `previous`: number of the build that was active before, null for none. */
export type FinishedBuild = {
  name: string;
  version: number;
  build: number;
  previous: number | null;
  documents: number;
  events: number;
};

export type FoldNowDeps = CompleteDeps & {
  /** Whether a service runs on the same stores, which folds builds by itself. */
  isServed: () => Promise<boolean>;
};

const POLL_MS = 250;
/** A service that has done nothing for so long has no projector. */
const SILENT_MS = 15_000;
/** For the projector of a running service, which needs a fraction of it. */
const LONGEST_WAIT_MS = 2_000;
const SHORT_MS = 20;

/** Documents as of the end of the log. A queried build of an older version isn't folded, and may be behind. */
export async function foldQueried(
  deps: FoldNowDeps,
  group: ProjectionGroup,
  signal = new AbortController().signal,
): Promise<void> {
  const builds = await registerBuilds(deps, group);
  const kept = keptBuild(group, builds);
  if (kept) await foldBuild(deps, group, kept, { signal, follows: false });
  const building = buildingOf(group, builds);
  if (!queriedBuild(group, builds) && building) await finishBuild(deps, group, builds, signal);
}

/**
 * Waits until the build in the making has taken over; folds it where no service does.
 * @throws Failure where it was cancelled, or waits for a newer program; what the stores throw; the signal's reason
 */
export async function finishBuild(
  deps: FoldNowDeps,
  group: ProjectionGroup,
  begun: Builds,
  signal: AbortSignal,
): Promise<FinishedBuild> {
  const { building } = begun;
  if (!building) throw new Failure(`The build of ${group.name} was cancelled`);
  const watched = (await deps.isServed()) ? await watch(deps, group, building, signal) : undefined;
  const { outcome, waitsFor, events } = watched ?? (await completeBuild(deps, group, building, { signal }));
  signal.throwIfAborted();
  if (outcome === "cancelled") throw new Failure(`The build of ${group.name} was cancelled`);
  if (waitsFor)
    throw new Failure(
      `${group.name} waits for a newer program, to fold ${waitsFor.type} at ${waitsFor.position} (${waitsFor.stream})`,
    );
  await dropRetired(deps, group);
  const { previous } = await readBuilds(deps.readStore, group);
  let documents = 0;
  for (const { name } of collectionsOf(group, building)) documents += await deps.readStore.count(name, {});
  const { version, build } = building;
  return { name: group.name, version, build, previous: previous?.build ?? null, documents, events };
}

/** Undefined when nobody folds it. */
async function watch(
  { readStore }: Pick<CompleteDeps, "readStore">,
  group: ProjectionGroup,
  build: Build,
  signal: AbortSignal,
): Promise<Outcome | undefined> {
  let seen = "";
  for (let silentMs = 0; silentMs < SILENT_MS && !signal.aborted; silentMs += POLL_MS) {
    const builds = await readBuilds(readStore, group);
    const checkpoint = await readStore.checkpoint(checkpointName(group, build));
    const events = builds.building?.progress.events ?? 0;
    if (isSame(builds.active, build)) return { outcome: "active", events: builds.active?.events ?? 0 };
    if (!isSame(builds.building, build)) return { outcome: "cancelled", events };
    if (checkpoint?.waitsFor) return { outcome: "waiting", waitsFor: checkpoint.waitsFor, events };
    const now = JSON.stringify([builds.building, checkpoint]);
    if (now !== seen) silentMs = 0;
    seen = now;
    await pause(POLL_MS, signal);
  }
  return signal.aborted ? { outcome: "aborted", events: 0 } : undefined;
}

/** Whether what is queried has what is in the log now, or gets it in time. @throws what the stores throw */
export async function becomeCurrent(
  deps: Pick<CompleteDeps, "eventStore" | "readStore">,
  groups: readonly ProjectionGroup[],
  withinMs: number,
): Promise<boolean> {
  const head = await deps.eventStore.head();
  const startedAt = performance.now();
  for (;;) {
    const current = await Promise.all(groups.map((group) => isCurrent(deps, group, head)));
    if (current.every(Boolean)) return true;
    if (performance.now() - startedAt >= withinMs) return false;
    await pause(SHORT_MS);
  }
}

/**
 * `readStore` when what is queried is at the end of the log or gets there in time, else a new store in which the log was
 * folded again: for readers that may not write. @throws what the stores throw
 */
export async function currentDocuments(
  deps: FoldNowDeps & { openScratch: () => Promise<ReadStore> },
  groups: readonly ProjectionGroup[],
): Promise<ReadStore> {
  const withinMs = (await deps.isServed()) ? LONGEST_WAIT_MS : 0;
  if (await becomeCurrent(deps, groups, withinMs)) return deps.readStore;
  const readStore = await deps.openScratch();
  try {
    for (const group of groups) await foldScratch({ ...deps, readStore }, group, undefined);
    return readStore;
  } catch (error) {
    await readStore.close();
    throw error;
  }
}

/** Folds the log into an empty store. `rules`: as of a Build. */
export async function foldScratch(
  deps: CompleteDeps,
  group: ProjectionGroup,
  rules: string | undefined,
): Promise<Build> {
  const active: Build = { version: group.version, build: 0, ...(rules !== undefined && { rules }) };
  await changeBuilds(deps, group, (builds) => (builds.active ? builds : { active, retired: [], next: 1 }));
  await foldBuild(deps, group, active, { signal: new AbortController().signal, follows: false });
  return active;
}

/** Whether no event up to `head` is missing; one that waits for a newer program is as current as it can be. */
async function isCurrent(
  { eventStore, readStore }: Pick<CompleteDeps, "eventStore" | "readStore">,
  group: ProjectionGroup,
  head: string,
): Promise<boolean> {
  const build = queriedBuild(group, await readBuilds(readStore, group));
  const checkpoint = build && (await readStore.checkpoint(checkpointName(group, build)));
  if (!build || (!checkpoint && head !== START)) return false;
  if (checkpoint && (checkpoint.more || !(await isOfThisLog({ eventStore }, checkpoint)))) return false;
  if (checkpoint?.waitsFor || (checkpoint?.position ?? START) >= head) return true;
  const { categories } = group;
  const part = { after: checkpoint?.position ?? START, categories, limit: 1 };
  const [next] = (await eventStore.readAll(part)).events;
  return next === undefined || next.position > head;
}
