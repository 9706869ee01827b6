// Folds builds in the making, from where they were left, until they have caught up; then they become active.
import { logProgress } from "../../event-store/log-progress.ts";
import type { EventStore } from "../../event-store/port.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { checkpointName, type Projection } from "../projection.ts";
import { type Progress, progressOf } from "../runner/progress.ts";
import type { Fault } from "../runner/projection-processor.ts";
import { ProjectionRunner, type RunnerLog } from "../runner/runner.ts";
import { answeringBuild, asBuild, type Building, type Builds, buildingOf } from "./build.ts";
import { changeBuilds, readBuilds } from "./builds-document.ts";
import { dropBuild, dropRetired, isFree, retire } from "./register-builds.ts";

export type FoldBuildsDeps = {
  eventStore: EventStore;
  /** The store itself, not its active view. */
  readStore: ReadStore;
  clock: () => Date;
  newId: () => string;
  /** Whose builds are gone on with though they are held; a new name for each call when absent. */
  by?: string;
  log: RunnerLog;
  /** Most events between two commits; the runner's own default when absent. */
  mostEvents?: number;
};

/** `faults`: of builds that stopped at an event they can't fold. `complete`: builds, by checkpoint, that caught up. */
export type FoldedBuilds = { complete: string[]; faults: { name: string; fault: Fault }[]; events: number };

type Claim = { by: string; builds: readonly Projection[] };

const RENEW_EVERY_MS = 2_000;
/** Against a log that grows faster than it is folded: whoever folds the active build goes on from wherever this ended. */
const MOST_PASSES = 50;

/**
 * Those of the program's version that nobody else folds, all in one pass over the log. Ends early when the signal
 * aborts, or when one of them was cancelled or taken over: what is left is gone on with by the next call, here or
 * elsewhere, from its checkpoint. `onProgress`: after each commit, with the events of this call. @throws what the stores throw; nothing is lost by that, either
 */
export async function foldBuilds(
  deps: FoldBuildsDeps,
  projections: readonly Projection[],
  signal: AbortSignal,
  onProgress: (progress: Progress, events: number) => void = () => undefined,
): Promise<FoldedBuilds> {
  const claim = await claimBuilds(deps, projections);
  if (claim.builds.length === 0) return { complete: [], faults: [], events: 0 };
  const ended = new AbortController();
  const until = AbortSignal.any([signal, ended.signal]);
  let progress = await beginning(deps, claim);
  const renew = async () => {
    if (!(await renewClaim(deps, claim, progress))) ended.abort();
  };
  // A store that doesn't answer is the fold's own trouble.
  const renewing = setInterval(() => void renew().catch(() => undefined), RENEW_EVERY_MS);
  let isComplete = false;
  try {
    const { events, faults } = await foldAll(deps, claim, until, async (now, passed) => {
      progress = now;
      onProgress(now, passed);
      const builds = await readBuilds(deps.readStore);
      if (!claim.builds.every((build) => ours(claim, build, builds))) ended.abort();
    });
    if (until.aborted) return { complete: [], faults, events };
    const sound = claim.builds.filter(({ name }) => !faults.some((one) => one.name === name));
    const built = await complete(deps, claim, sound);
    isComplete = true;
    return { complete: built.map(checkpointName), faults, events };
  } finally {
    clearInterval(renewing);
    await releaseBuilds(deps, claim, isComplete ? undefined : progress).catch(() => undefined);
    await dropRetired(deps, projections).catch(() => undefined);
  }
}

async function claimBuilds(deps: FoldBuildsDeps, projections: readonly Projection[]): Promise<Claim> {
  const by = deps.by ?? deps.newId();
  const builds = await changeBuilds(deps.readStore, deps.newId, (now) => {
    for (const projection of projections) {
      const building = buildingOf(projection, now);
      if (building && isFree({ ...deps, by }, building))
        Object.assign(building, { by, aliveAt: deps.clock().toISOString() } satisfies Partial<Building>);
    }
  });
  const claimed = projections.flatMap((projection) => {
    const building = buildingOf(projection, builds);
    return building?.by === by ? [asBuild(projection, building)] : [];
  });
  return { by, builds: claimed };
}

/** Of a build that goes on, what was folded before counts. */
async function beginning({ readStore }: FoldBuildsDeps, { builds }: Claim): Promise<Progress> {
  const { projections } = await readBuilds(readStore);
  const all = builds.map(({ name }) => projections[name]?.building?.progress);
  return { events: Math.max(0, ...all.map((one) => one?.events ?? 0)), eventsPerSecond: 0, done: 0 };
}

/** Passes until no query would see an older state afterwards than before. */
async function foldAll(
  deps: FoldBuildsDeps,
  claim: Claim,
  signal: AbortSignal,
  onProgress: (progress: Progress, events: number) => Promise<void>,
): Promise<Pick<FoldedBuilds, "events" | "faults">> {
  const runner = new ProjectionRunner({ ...deps, projections: claim.builds });
  const earlier = (await beginning(deps, claim)).events;
  const head = (await deps.eventStore.head()) ?? "";
  const from = logProgress((await slowest(deps, claim.builds)) || "0", head);
  const started = performance.now();
  let events = 0;
  const passed = async (more: number) => {
    events += more;
    const done = logProgress((await slowest(deps, claim.builds)) || "0", head);
    const progress = progressOf(events, performance.now() - started, done, from);
    await onProgress({ ...progress, events: earlier + events }, events);
  };
  let faults: FoldedBuilds["faults"] = [];
  for (let pass = 0; pass < MOST_PASSES && !signal.aborted; pass++) {
    await runner.catchUp(passed, signal);
    faults = (await runner.status()).flatMap(({ name, fault }) => (fault ? [{ name, fault }] : []));
    const sound = claim.builds.filter(({ name }) => !faults.some((one) => one.name === name));
    if (await areAsFar(deps, sound)) break;
  }
  return { events, faults };
}

async function areAsFar({ readStore }: FoldBuildsDeps, builds: readonly Projection[]): Promise<boolean> {
  const known = await readBuilds(readStore);
  const checkpoints = await readStore.checkpoints();
  const positionOf = (one: Projection | undefined) =>
    (one && checkpoints[checkpointName(one)]?.position) ?? "";
  return builds.every((build) => positionOf(build) >= positionOf(answeringBuild(build, known)));
}

async function slowest({ readStore }: FoldBuildsDeps, builds: readonly Projection[]): Promise<string> {
  const checkpoints = await readStore.checkpoints();
  return builds.map((build) => checkpoints[checkpointName(build)]?.position ?? "").sort()[0] ?? "";
}

/** One write for all of them. What was cancelled or taken over meanwhile is left alone; answers the others. */
async function complete(
  deps: FoldBuildsDeps,
  claim: Claim,
  caughtUp: readonly Projection[],
): Promise<Projection[]> {
  const built = new Set<Projection>();
  await changeBuilds(deps.readStore, deps.newId, (builds) => {
    for (const projection of caughtUp) {
      const entry = builds.projections[projection.name];
      const building = ours(claim, projection, builds);
      if (!building) continue;
      built.add(projection);
      building.progress.done = 1;
      if (!building.activates) continue;
      if (entry?.previous) retire(builds, projection, entry.previous);
      const { version, build, collection } = building;
      const { active } = entry ?? {};
      builds.projections[projection.name] = {
        active: { version, build, collection },
        ...(active ? { previous: active } : {}),
      };
    }
  });
  return [...built];
}

/** False when one of them is no longer ours. @throws what the store throws */
async function renewClaim(deps: FoldBuildsDeps, claim: Claim, progress: Progress): Promise<boolean> {
  const builds = await changeBuilds(deps.readStore, deps.newId, (now) => {
    for (const build of claim.builds) {
      const mine = ours(claim, build, now);
      if (mine) Object.assign(mine, { aliveAt: deps.clock().toISOString(), progress });
    }
  });
  return claim.builds.every((build) => ours(claim, build, builds));
}

/** Free for the next one; what another process has cancelled is dropped once more, after our own last write. */
async function releaseBuilds(deps: FoldBuildsDeps, claim: Claim, progress?: Progress): Promise<void> {
  const builds = await changeBuilds(deps.readStore, deps.newId, (now) => {
    for (const build of claim.builds) {
      const mine = ours(claim, build, now);
      if (mine) Object.assign(mine, { by: "" }, progress ? { progress } : {});
    }
  });
  for (const build of claim.builds) {
    const { active, previous, building } = builds.projections[build.name] ?? {};
    const isKept = [active, previous, building].some(
      (one) => one?.build === build.build && one?.version === build.version,
    );
    if (!isKept) await dropBuild(deps.readStore, checkpointName(build), build.collection.name);
  }
}

function ours({ by }: Claim, { name, build }: Projection, { projections }: Builds): Building | undefined {
  const building = projections[name]?.building;
  return building?.by === by && building.build === build ? building : undefined;
}
