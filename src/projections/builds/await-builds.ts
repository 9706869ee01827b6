// For commands: waits for documents that have what is in the log, and for builds to take over; folds these where nobody else does.

import { Failure } from "../../runtime/errors.ts";
import { pause } from "../../runtime/pause.ts";
import { isOfThisLog } from "../../stores/event-store/foreign-position.ts";
import { START } from "../../stores/event-store/port.ts";
import { type Build, checkpointName, collectionsOf } from "../fold/build.ts";
import type { ProjectionGroup } from "../groups.ts";
import { type Builds, isSame, queriedBuild } from "./builds.ts";
import { readBuilds } from "./builds-document.ts";
import { type CompleteDeps, completeBuild, type Outcome } from "./complete-build.ts";
import { dropRetired } from "./register-builds.ts";

/** `previous`: number of the build that was active before, null for none. */
export type FinishedBuild = {
  name: string;
  version: number;
  build: number;
  previous: number | null;
  documents: number;
  events: number;
};

export type FinishDeps = CompleteDeps & {
  /** Whether a service runs on the same stores, which folds builds by itself. */
  isServed: () => Promise<boolean>;
};

const POLL_MS = 250;
/** A service that has done nothing for so long has no projector. */
const SILENT_MS = 15_000;
const SHORT_MS = 20;

/**
 * Waits until the build in the making has taken over; folds it where no service does.
 * @throws Failure where it was cancelled, or waits for a newer program; what the stores throw; the signal's reason
 */
export async function finishBuild(
  deps: FinishDeps,
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
