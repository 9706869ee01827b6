// Rebuilds projections beside the live ones, from the first event on, and swaps them when they have caught up.
import { DomainError } from "../errors.ts";
import { howFar } from "../event-store/how-far.ts";
import type { EventStore } from "../event-store/port.ts";
import type { ReadStore } from "../read-store/port.ts";
import { buildOf, liveOf, readBuilds } from "./builds.ts";
import { checkpointName } from "./checkpoint-name.ts";
import { abandonBuilds, type Claim, claimBuilds, dropBuilds, makeLive, stayAlive } from "./claim-builds.ts";
import { type Progress, progressOf } from "./progress.ts";
import type { Projection } from "./projection.ts";
import { ProjectionRunner, type RunnerLog } from "./runner.ts";

export type RebuildDeps = {
  eventStore: EventStore;
  /** The store itself, not its live view. */
  readStore: ReadStore;
  clock: () => Date;
  newId: () => string;
  log: RunnerLog;
};

/** `before`: the build that was live, kept for a roll-back until the next rebuild. */
export type Rebuilt = { name: string; version: number; build: number; before: number; documents: number };

/** An event that the new build can't fold. */
export class RebuildFaulted extends DomainError {
  override readonly code = "rebuild_faulted";
}

const TELL_EVERY_MS = 1_000;
const ALIVE_EVERY_MS = 5_000;
/** Against a log that grows faster than it is folded: the running projector goes on from wherever this ended. */
const MOST_PASSES = 50;

/**
 * Until the swap the live builds are read and written as ever. Safe beside a running projector, which goes on with the
 * new builds within two seconds.
 * @throws BuildInProgress, RebuildFaulted, what `tell` and the stores throw; the live builds are as they were then
 */
export async function rebuild(
  deps: RebuildDeps,
  projections: readonly Projection[],
  tell: (progress: Progress) => void,
): Promise<Rebuilt[]> {
  const claim = await claimBuilds(deps, projections);
  try {
    await fold(deps, claim, tell);
    await makeLive(deps, claim);
  } catch (error) {
    await abandonBuilds(deps, claim).catch(() => undefined);
    throw error;
  }
  await dropBuilds(deps, replacedBuilds(claim));
  return await Promise.all(projections.map((projection) => rebuilt(deps, claim, projection)));
}

/** Passes until no query would see an older state after the swap than before it. */
async function fold(deps: RebuildDeps, claim: Claim, tell: (progress: Progress) => void): Promise<void> {
  const shadows = claim.projections.map((projection) => buildOf(projection, claim.build));
  const runner = new ProjectionRunner({ ...deps, projections: shadows });
  const head = (await deps.eventStore.head()) ?? "";
  const started = performance.now();
  let [events, toldAt, aliveAt] = [0, started, started];
  const passed = async (more: number) => {
    events += more;
    const now = performance.now();
    if (now - toldAt >= TELL_EVERY_MS) {
      toldAt = now;
      tell(progressOf(events, now - started, howFar(await slowest(deps, shadows), head)));
    }
    if (now - aliveAt >= ALIVE_EVERY_MS) {
      aliveAt = now;
      await stayAlive(deps, claim);
    }
  };
  for (let pass = 0; pass < MOST_PASSES; pass++) {
    await runner.catchUp(passed);
    await refuseFaults(runner);
    if (await areAsFar(deps, claim, shadows)) break;
  }
  tell(progressOf(events, performance.now() - started, 1));
}

async function refuseFaults(runner: ProjectionRunner): Promise<void> {
  for (const { name, fault } of await runner.status()) {
    if (!fault) continue;
    const { type, position, stream, error } = fault;
    throw new RebuildFaulted(`${name} can't fold ${type} at ${position} (${stream}): ${error}`);
  }
}

async function areAsFar(
  { readStore }: RebuildDeps,
  { projections }: Claim,
  shadows: readonly Projection[],
): Promise<boolean> {
  const builds = await readBuilds(readStore);
  const checkpoints = await readStore.checkpoints();
  const positionOf = (projection: Projection) => checkpoints[checkpointName(projection)]?.position ?? "";
  const live = projections.map((projection) => positionOf(liveOf(projection, builds)));
  return shadows.every((shadow, n) => positionOf(shadow) >= (live[n] ?? ""));
}

async function slowest({ readStore }: RebuildDeps, shadows: readonly Projection[]): Promise<string> {
  const checkpoints = await readStore.checkpoints();
  return shadows.map((shadow) => checkpoints[checkpointName(shadow)]?.position ?? "").sort()[0] ?? "";
}

/** Those that a roll-back went to until now. */
function replacedBuilds({ projections, earlier }: Claim): Projection[] {
  return projections.flatMap((projection) => {
    const build = earlier.before[checkpointName(projection)];
    return build === undefined ? [] : [buildOf(projection, build)];
  });
}

async function rebuilt({ readStore }: RebuildDeps, claim: Claim, projection: Projection): Promise<Rebuilt> {
  const { build, earlier } = claim;
  const { name, version } = projection;
  const before = earlier.live[checkpointName(projection)] ?? 0;
  const documents = await readStore.count(buildOf(projection, build).collection.name, {});
  return { name, version, build, before, documents };
}
