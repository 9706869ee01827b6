// Where the builds of a group are listed.
import { type Checkpoint, CheckpointMoved, type ReadStore } from "../../stores/read-store/port.ts";
import type { ProjectionGroup } from "../groups.ts";
import { type Builds, NO_BUILDS } from "./builds.ts";

type BuildsDeps = { readStore: Pick<ReadStore, "checkpoint" | "write">; newId: () => string };

type Named = Pick<ProjectionGroup, "name">;

const MAX_ATTEMPTS = 50;
const DIGITS = 12;

/** A checkpoint, as it is the document that is written only where it is still what was read; `position` counts its changes. */
export function buildsName({ name }: Named): string {
  return `builds:${name}`;
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
