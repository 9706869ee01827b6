// Drops builds that nothing answers from any more: they are marked first, so that a crash leaves none behind.

import type { ReadStore } from "../../stores/read-store/port.ts";
import { setAsideCollection } from "../../stores/read-store/set-aside.ts";
import { checkpointName, type Projection, partsCollection } from "../projection.ts";
import { asBuild, type Build, type Builds, isKept } from "./build.ts";
import { type BuildsDeps, changeBuilds, readBuilds } from "./builds-document.ts";

type RetireDeps = BuildsDeps & { readStore: ReadStore };

/** Marks a build that is no longer listed to be dropped by the next `dropRetired` of any process. */
export function retire(builds: Builds, projection: Projection, build: Build): void {
  const { version, build: number, collection } = build;
  const retired = asBuild(projection, build);
  // One that was folded for a rollback stays the previous one.
  if (isKept(retired, builds)) return;
  builds.retired[checkpointName(retired)] = { version, build: number, collection };
}

/** Drops documents and checkpoints of retired builds, also those that a crashed process had retired. */
export async function dropRetired(deps: RetireDeps, projections: readonly Projection[]): Promise<void> {
  const isOurs = (checkpoint: string) => projections.some(({ name }) => checkpoint.startsWith(`${name}:`));
  const { readStore } = deps;
  const { retired } = await readBuilds(readStore);
  const dropped = Object.entries(retired).filter(([checkpoint]) => isOurs(checkpoint));
  if (dropped.length === 0) return;
  for (const [checkpoint, { collection }] of dropped) await dropBuild(readStore, checkpoint, collection);
  await changeBuilds(deps, (builds) => {
    for (const [checkpoint] of dropped) delete builds.retired[checkpoint];
  });
}

export async function dropBuild(readStore: ReadStore, checkpoint: string, collection: string): Promise<void> {
  await readStore.resetCheckpoint(checkpoint);
  await readStore.drop(collection);
  await readStore.drop(partsCollection(collection));
  await readStore.drop(setAsideCollection(collection));
}
