// Who may build what: numbers for new builds, signs of life while they are made, and the swap that makes them live.
import { DomainError } from "../errors.ts";
import type { ReadStore } from "../read-store/port.ts";
import { type Builds, buildOf, changeBuilds } from "./builds.ts";
import { checkpointName } from "./checkpoint-name.ts";
import type { Projection } from "./projection.ts";

export class BuildInProgress extends DomainError {
  override readonly code = "build_in_progress";
}

type Deps = { readStore: ReadStore; clock: () => Date; newId: () => string };

/** `by`: a name that no other builder has. `earlier`: as the builds were when this one began. */
export type Claim = { by: string; projections: readonly Projection[]; build: number; earlier: Builds };

/** A builder that was silent for longer is taken for dead. */
const DEAD_AFTER_MS = 60_000;

/** What a dead builder left is dropped. @throws BuildInProgress while another builds one of them */
export async function claimBuilds(deps: Deps, projections: readonly Projection[]): Promise<Claim> {
  const by = deps.newId();
  let left: Projection[] = [];
  let build = 0;
  const earlier = await changeBuilds(deps.readStore, deps.newId, (builds) => {
    left = [];
    const mine = Object.values(builds.building).find((building) => building.by === by);
    build = mine?.build ?? builds.next;
    builds.next = Math.max(builds.next, build + 1);
    for (const projection of projections) {
      const key = checkpointName(projection);
      const other = builds.building[key];
      if (other && other.by !== by) {
        if (deps.clock().getTime() - Date.parse(other.aliveAt) < DEAD_AFTER_MS)
          throw new BuildInProgress(`${projection.name} is being rebuilt; try again when that has ended`);
        left.push(buildOf(projection, other.build));
      }
      builds.building[key] = { build, by, aliveAt: deps.clock().toISOString() };
    }
  });
  await dropBuilds(deps, left);
  return { by, projections, build, earlier };
}

/** @throws BuildInProgress when somebody took this builder for dead */
export async function stayAlive(deps: Deps, claim: Claim): Promise<void> {
  await changeBuilds(deps.readStore, deps.newId, ({ building }) => {
    for (const projection of claim.projections) {
      const mine = building[checkpointName(projection)];
      if (mine?.by !== claim.by) throw takenOver(projection);
      mine.aliveAt = deps.clock().toISOString();
    }
  });
}

/** One write for all of them. @throws BuildInProgress when somebody took this builder for dead */
export async function makeLive(deps: Deps, claim: Claim): Promise<void> {
  await changeBuilds(deps.readStore, deps.newId, (builds) => {
    for (const projection of claim.projections) {
      const key = checkpointName(projection);
      if (builds.live[key] === claim.build) continue;
      if (builds.building[key]?.by !== claim.by) throw takenOver(projection);
      builds.before[key] = builds.live[key] ?? 0;
      builds.live[key] = claim.build;
      delete builds.building[key];
    }
  });
}

/** Gives the claim up and drops what was built under it. */
export async function abandonBuilds(deps: Deps, claim: Claim): Promise<void> {
  const { live } = await changeBuilds(deps.readStore, deps.newId, ({ building }) => {
    for (const key of claim.projections.map(checkpointName))
      if (building[key]?.by === claim.by) delete building[key];
  });
  const unused = claim.projections.filter((one) => live[checkpointName(one)] !== claim.build);
  await dropBuilds(
    deps,
    unused.map((one) => buildOf(one, claim.build)),
  );
}

/** Documents and checkpoints. */
export async function dropBuilds({ readStore }: Pick<Deps, "readStore">, builds: readonly Projection[]) {
  for (const build of builds) {
    await readStore.resetCheckpoint(checkpointName(build));
    await readStore.clear(build.collection.name);
  }
}

function takenOver({ name }: Projection): BuildInProgress {
  return new BuildInProgress(`The rebuild of ${name} was silent for a minute and was taken over by another`);
}
