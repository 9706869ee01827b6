// Has projections try the event again that they have stopped at, such as after it became readable, without a restart.
import type { Checkpoint } from "../../read-store/port.ts";
import { DomainError } from "../../runtime/errors.ts";
import { checkpointName, type Projection } from "../projection.ts";
import { asBuild, type Builds, buildingOf, entryOf, foldedBuild } from "./build.ts";
import { type BuildsDeps, changeBuilds } from "./builds-document.ts";

export class NotFaulted extends DomainError {
  override readonly code = "not_faulted";
}

/** A build that has stopped. */
export type Faulted = { projection: Projection; fault: NonNullable<Checkpoint["fault"]> };

/**
 * Every process that folds them notices within a second, and its runner starts anew from the checkpoints: others of the
 * group that have stopped try again, too. @throws what the store throws
 */
export async function retryFaults(deps: BuildsDeps, projections: readonly Projection[]): Promise<void> {
  // Outside of the change, which may be applied twice.
  const wanted = new Map<string, number>();
  await changeBuilds(deps, (builds) => {
    for (const projection of projections) {
      const entry = entryOf(projection, builds);
      builds.projections[projection.name] = entry;
      if (!wanted.has(projection.name)) wanted.set(projection.name, (entry.retries ?? 0) + 1);
      entry.retries = Math.max(entry.retries ?? 0, wanted.get(projection.name) ?? 0);
    }
  });
}

/** The faulted builds of each projection: the one that is kept up to date, and the one in progress. @throws NotFaulted */
export function faultedOf(
  builds: Builds,
  checkpoints: Readonly<Record<string, Checkpoint>>,
  projections: readonly Projection[],
): Faulted[] {
  return projections.flatMap((projection) => {
    const building = buildingOf(projection, builds);
    const folded = [foldedBuild(projection, builds), building && asBuild(projection, building)];
    const faulted = folded.flatMap((one) => {
      const fault = one && checkpoints[checkpointName(one)]?.fault;
      return one && fault ? [{ projection: one, fault }] : [];
    });
    if (faulted.length === 0) throw new NotFaulted(`${projection.name} has not stopped at an event`);
    return faulted;
  });
}
