// What a build of a projection is, and which of its builds a program answers from, folds, or has still to make.

import type { Projection } from "../projection.ts";
import type { Progress } from "../runner/progress.ts";

/** One fold of the whole log by the rules of one version, with a collection and a checkpoint of its own. */
export type Build = { version: number; build: number; collection: string };

/**
 * A build in the making. `by`: who folds it, the empty text for nobody; `aliveAt`: ISO 8601 UTC, renewed while that goes
 * on. `activates`: becomes active when it has caught up; otherwise it waits for a projector of its version.
 */
export type Building = Build & { by: string; aliveAt: string; activates: boolean; progress: Progress };

/** `previous`: what was active before, kept for a roll-back. With none at all nothing can be answered yet. */
export type ProjectionBuilds = { active?: Build; previous?: Build; building?: Building };

/**
 * By projection name. `next`: the number of the next build, never given twice, so that a late write to a build that is
 * gone meets no other. `retired`: builds whose documents have still to be dropped, by checkpoint name.
 */
export type Builds = {
  projections: Record<string, ProjectionBuilds>;
  retired: Record<string, Build>;
  next: number;
};

/** A projection as one of its builds. The first of all has number 0 and the projection's own collection. */
export function asBuild(projection: Projection, { version, build, collection }: Build): Projection {
  const { indexes } = projection.collection;
  return { ...projection, version, build, collection: { name: collection, indexes } };
}

export function numbered({ version, collection }: Projection, build: number): Build {
  return { version, build, collection: build === 0 ? collection.name : `${collection.name}_b${build}` };
}

/** What this program's queries read: the active build, else the previous one, if its documents mean what they expect. */
export function answeringBuild(projection: Projection, builds: Builds): Projection | undefined {
  const entry = entryOf(projection, builds);
  const isReadable = (build: Build | undefined): build is Build =>
    build !== undefined &&
    build.version <= projection.version &&
    build.version >= (projection.readsSince ?? 1);
  const build = [entry.active, entry.previous].find(isReadable);
  return build && asBuild(projection, build);
}

/** What this program keeps up to date: the build of its own version. Builds of other versions need other code. */
export function foldedBuild(projection: Projection, builds: Builds): Projection | undefined {
  const entry = entryOf(projection, builds);
  const build = [entry.active, entry.previous].find((one) => one?.version === projection.version);
  return build && asBuild(projection, build);
}

/** The build in the making, if it is of this program's version. */
export function buildingOf({ name, version }: Projection, builds: Builds): Building | undefined {
  const building = builds.projections[name]?.building;
  return building?.version === version ? building : undefined;
}

/** Until any process has written it down, the first build is the active one. */
function entryOf(projection: Projection, { projections }: Builds): ProjectionBuilds {
  return projections[projection.name] ?? { active: numbered(projection, 0) };
}
