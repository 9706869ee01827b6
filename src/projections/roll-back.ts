// Goes back to the builds before the live ones; they go on from where they were left.
import { DomainError } from "../errors.ts";
import type { ReadStore } from "../read-store/port.ts";
import { changeBuilds, readBuilds } from "./builds.ts";
import { checkpointName } from "./checkpoint-name.ts";
import type { Projection } from "./projection.ts";

export class NoEarlierBuild extends DomainError {
  override readonly code = "no_earlier_build";
}

/** `build`: what is live now; `before`: what was, kept for going there again. */
export type RolledBack = { name: string; build: number; before: number };

/** @throws NoEarlierBuild; what the store throws */
export async function rollBack(
  deps: { readStore: ReadStore; newId: () => string },
  projections: readonly Projection[],
): Promise<RolledBack[]> {
  const earlier = await readBuilds(deps.readStore);
  const turns = projections.map((projection) => {
    const key = checkpointName(projection);
    const build = earlier.before[key];
    if (build === undefined)
      throw new NoEarlierBuild(`There is no build before the live one of ${projection.name}`);
    return { key, name: projection.name, build, before: earlier.live[key] ?? 0 };
  });
  await changeBuilds(deps.readStore, deps.newId, (builds) => {
    for (const { key, name, build, before } of turns) {
      if (builds.live[key] === build) continue;
      if ((builds.live[key] ?? 0) !== before || builds.before[key] !== build)
        throw new NoEarlierBuild(`${name} was rebuilt in this moment; look at it again`);
      builds.live[key] = build;
      builds.before[key] = before;
    }
  });
  return turns.map(({ name, build, before }) => ({ name, build, before }));
}
