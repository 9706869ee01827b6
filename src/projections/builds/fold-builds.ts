// Folds builds in progress from their checkpoints until they have caught up, and then activates them.

import type { BasicLogger } from "../../runtime/logging.ts";
import { logProgress } from "../../stores/event-store/log-progress.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { AwaitedEvent } from "../../stores/read-store/port.ts";
import { checkpointName, type Projection } from "../projection.ts";
import type { CommitRules } from "../runner/commit-batches.ts";
import { type Progress, progressOf } from "../runner/progress.ts";
import { ProjectionRunner } from "../runner/runner.ts";
import { type Builds, buildOf } from "./build.ts";
import { changeBuilds, readBuilds } from "./builds-document.ts";
import {
  type Claim,
  type ClaimDeps,
  claimBuilds,
  claimed,
  holdsAll,
  releaseBuilds,
  renewClaim,
} from "./claim-builds.ts";
import { dropRetired, retire } from "./retire-builds.ts";

export type FoldBuildsDeps = ClaimDeps & Partial<CommitRules> & { eventStore: EventStore; log: BasicLogger };

/** `waiting`: builds that met an event of a newer program. `complete`: checkpoint names of builds that caught up. */
export type FoldedBuilds = {
  complete: string[];
  waiting: { name: string; waitsFor: AwaitedEvent }[];
  events: number;
};

const RENEW_EVERY_MS = 2_000;
/** As stored before the last events are committed: 1 stands for a build that is complete, which nobody resumes. */
const MAX_UNFINISHED = 0.99;
/** Bounds the catch-up when the log grows faster than it is folded; the active build's runner folds the remainder. */
const MAX_PASSES = 50;

/**
 * Claims the builds of this program's version that no other process folds, and folds them in one pass over the log.
 * Returns early when the signal aborts, or when one of them was cancelled or claimed by another process; the next call,
 * in any process, resumes from the checkpoints. `onProgress`: after each batch.
 * @throws what the stores throw; the next call resumes then, too
 */
export async function foldBuilds(
  deps: FoldBuildsDeps,
  projections: readonly Projection[],
  signal: AbortSignal,
  onProgress: (progress: Progress) => void = () => undefined,
): Promise<FoldedBuilds> {
  const claim = await claimBuilds(deps, projections);
  if (claim.builds.length === 0) return { complete: [], waiting: [], events: 0 };
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal]);
  // Of this call alone: what an earlier one had read and not committed is read again.
  let progress: Progress = { events: 0, eventsPerSecond: 0, done: 0 };
  const renew = async () => {
    if (!(await renewClaim(deps, claim, progress))) ended.abort();
  };
  // Errors are ignored here: the fold uses the same store and reports them.
  let renewal: Promise<void> = Promise.resolve();
  const renewing = setInterval(() => {
    renewal = renew().catch(() => undefined);
  }, RENEW_EVERY_MS);
  const runner = new ProjectionRunner({ ...deps, projections: claim.builds });
  let isComplete = false;
  try {
    const waiting = await foldAll(deps, claim, runner, until, async (now) => {
      progress = { ...now, done: Math.min(now.done, MAX_UNFINISHED) };
      onProgress(now);
      if (!holdsAll(claim, await readBuilds(deps.readStore))) ended.abort();
    });
    if (until.aborted) return { complete: [], waiting, events: progress.events };
    // Otherwise this process would race against itself for the builds document.
    clearInterval(renewing);
    await renewal;
    const built = await complete(deps, claim, foldable(claim, waiting), progress);
    isComplete = true;
    // What was folded into the one before since then: where no projector runs, nobody else folds it.
    await runner.catchUp();
    return { complete: built.map(checkpointName), waiting, events: progress.events };
  } catch (error) {
    // The collection of a cancelled build is gone, which a commit finds out before the claim is looked at again.
    if (holdsAll(claim, await readBuilds(deps.readStore))) throw error;
    return { complete: [], waiting: [], events: progress.events };
  } finally {
    clearInterval(renewing);
    await releaseBuilds(deps, claim, isComplete ? undefined : progress).catch(() => undefined);
    await dropRetired(deps, projections).catch(() => undefined);
  }
}

/** Repeats passes until each build has reached the position of the active build, so that it may take over. */
async function foldAll(
  deps: FoldBuildsDeps,
  claim: Claim,
  runner: ProjectionRunner,
  signal: AbortSignal,
  onProgress: (progress: Progress) => Promise<void>,
): Promise<FoldedBuilds["waiting"]> {
  const head = (await deps.eventStore.head()) ?? "";
  const from = logProgress((await lowestPosition(deps, claim.builds)) || "0", head);
  const started = performance.now();
  let events = 0;
  const onBatch = async (more: number, position: string) => {
    events += more;
    const done = logProgress(position, head);
    await onProgress(progressOf(events, performance.now() - started, done, from));
  };
  let waiting: FoldedBuilds["waiting"] = [];
  for (let pass = 0; pass < MAX_PASSES && !signal.aborted; pass++) {
    await runner.catchUp(onBatch, signal);
    const checkpoints = await deps.readStore.checkpoints();
    waiting = claim.builds.flatMap((build) => {
      const waitsFor = checkpoints[checkpointName(build)]?.waitsFor;
      return waitsFor ? [{ name: build.name, waitsFor }] : [];
    });
    const [mayTakeOver, known] = [await takeoverRule(deps), await readBuilds(deps.readStore)];
    if (foldable(claim, waiting).every((build) => mayTakeOver(build, known))) break;
  }
  return waiting;
}

function foldable({ builds }: Claim, waiting: FoldedBuilds["waiting"]): Projection[] {
  return builds.filter(({ name }) => !waiting.some((one) => one.name === name));
}

/**
 * The one rule of every switch, of a rebuild, a raised version, other rules or a rollback: never to a build that lacks what
 * the active one has folded. As of the call, which is to be repeated for each attempt to switch.
 */
async function takeoverRule({
  readStore,
  eventStore,
}: FoldBuildsDeps): Promise<(build: Projection, builds: Builds) => boolean> {
  const checkpoints = await readStore.checkpoints();
  // After the checkpoints: one behind it is of a log that was restored, and nothing can reach it.
  const head = (await eventStore.head()) ?? "";
  const positionOf = (build: Pick<Projection, "name" | "version" | "build">) =>
    checkpoints[checkpointName(build)]?.position ?? "";
  return (build, { projections }) => {
    const { active } = projections[build.name] ?? {};
    const folded = active ? positionOf({ name: build.name, ...active }) : "";
    const position = positionOf(build);
    return position >= folded || position >= head;
  };
}

async function lowestPosition({ readStore }: FoldBuildsDeps, builds: readonly Projection[]): Promise<string> {
  const checkpoints = await readStore.checkpoints();
  return builds.map((build) => checkpoints[checkpointName(build)]?.position ?? "").sort()[0] ?? "";
}

/**
 * Completes all builds in one write, without those that were cancelled or claimed by another process meanwhile, or that the
 * active one has left behind: these are folded on by the next call.
 */
async function complete(
  deps: FoldBuildsDeps,
  claim: Claim,
  caughtUp: readonly Projection[],
  { events, eventsPerSecond }: Progress,
): Promise<Projection[]> {
  const built = new Set<Projection>();
  await changeBuilds(deps, async (builds) => {
    built.clear();
    const mayTakeOver = await takeoverRule(deps);
    for (const projection of caughtUp) {
      const entry = builds.projections[projection.name];
      const building = claimed(claim, projection, builds);
      if (!building || !mayTakeOver(projection, builds)) continue;
      built.add(projection);
      building.progress = { events, eventsPerSecond, done: 1 };
      if (!building.activates) continue;
      const { active, previous } = entry ?? {};
      builds.projections[projection.name] = {
        active: buildOf(building),
        ...(active ? { previous: active } : {}),
      };
      if (previous) retire(builds, projection, previous);
    }
  });
  return [...built];
}
