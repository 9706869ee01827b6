// Where the builds of a group are listed, and what each build keeps its documents in.

import { setAsideCollection } from "../../stores/coordination/set-aside.ts";
import {
  type Checkpoint,
  CheckpointMoved,
  type CollectionSpec,
  type ReadStore,
} from "../../stores/read-store/port.ts";
import { groupCollections, type ProjectionGroup } from "../groups.ts";
import { type Build, type Builds, NO_BUILDS } from "./builds.ts";

export type BuildsDeps = { readStore: Pick<ReadStore, "checkpoint" | "write">; newId: () => string };

type Named = Pick<ProjectionGroup, "name">;

const MAX_ATTEMPTS = 50;
const DIGITS = 12;

/** A checkpoint, as it is the document that is written only where it is still what was read; `position` counts its changes. */
export function buildsName({ name }: Named): string {
  return `builds:${name}`;
}

/** Of the checkpoint of a build. */
export function checkpointName({ name }: Named, { build }: Pick<Build, "build">): string {
  return build === 0 ? name : `${name}_b${build}`;
}

/** Of a collection of a build, by that of its projection. */
export function collectionName(collection: string, { build }: Pick<Build, "build">): string {
  return build === 0 ? collection : `${collection}_b${build}`;
}

/** Of the events that a build has set aside. */
export function notesName(group: Named, build: Pick<Build, "build">): string {
  return setAsideCollection(checkpointName(group, build));
}

/** Those of the documents and of the notes. */
export function collectionsOf(
  group: Pick<ProjectionGroup, "name" | "projections" | "hasClickTables">,
  build: Build,
): CollectionSpec[] {
  return [
    ...groupCollections(group).map(({ name, indexes }) => ({
      name: collectionName(name, build),
      indexes,
    })),
    { name: notesName(group, build), indexes: [] },
  ];
}

export function buildsIn(stored: Checkpoint | undefined): Builds {
  return (stored?.more as Builds | undefined) ?? NO_BUILDS;
}

export async function readBuilds(readStore: Pick<ReadStore, "checkpoint">, group: Named): Promise<Builds> {
  return buildsIn(await readStore.checkpoint(buildsName(group)));
}

/**
 * Applies `change` to the builds as they are stored, and writes them if nobody else has meanwhile; else tries again with what
 * the other has written. What it reads itself is as new as the builds. @throws what `change` and the store throw
 */
export async function changeBuilds(
  { readStore, newId }: BuildsDeps,
  group: Named,
  change: (builds: Builds) => Builds | Promise<Builds>,
): Promise<Builds> {
  const name = buildsName(group);
  for (let attempt = 1; ; attempt += 1) {
    const from = await readStore.checkpoint(name);
    const before = buildsIn(from);
    const after = await change(before);
    if (after === before) return before;
    const position = String(Number(from?.position ?? 0) + 1).padStart(DIGITS, "0");
    const checkpoint = { name, from, to: { position, eventId: newId(), more: after } };
    try {
      await readStore.write({ documents: [], checkpoint });
      return after;
    } catch (error) {
      if (!(error instanceof CheckpointMoved) || attempt === MAX_ATTEMPTS) throw error;
    }
  }
}
