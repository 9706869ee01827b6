// What a build of a projection is, and which of its builds a program queries, keeps up to date, or has still to fold.

import type { StoredEvent } from "../../events/catalogue.ts";
import { PRESENT_RULES } from "../../events/classification/classify.ts";
import { reclassified } from "../../events/classification/reclassify.ts";
import type { Document } from "../../stores/read-store/port.ts";
import type { Fields, Projection } from "../projection.ts";
import type { Progress } from "../runner/progress.ts";

/** One fold of the whole log by one version of the projection, with its own collection and checkpoint. */
export type Build = {
  version: number;
  build: number;
  collection: string;
  /** The rules (classification/classify.ts) under which clicks were classified again; absent: as recorded. */
  rules?: string;
};

/**
 * A build in progress. `by`: id of the process or thread that folds it, empty for none; `aliveAt`: ISO 8601 UTC, renewed
 * by it. `activates`: becomes active when it has caught up; otherwise the projector of its version activates it.
 */
export type Building = Build & { by: string; aliveAt: string; activates: boolean; progress: Progress };

/**
 * `previous`: the build that was active before, kept for a rollback, which makes it the `building` as well. Without `active`
 * and `previous`, queries get 503.
 */
export type ProjectionBuilds = { active?: Build; previous?: Build; building?: Building };

/**
 * By projection name. `next`: the number of the next build; numbers are not reused, so that a late write to a dropped
 * build can't reach the collection of a newer one. `retired`: builds still to be dropped, by checkpoint name.
 */
export type Builds = {
  projections: Record<string, ProjectionBuilds>;
  retired: Record<string, Build>;
  next: number;
};

/**
 * The projection with the collection, checkpoint and rules of that build, which it may be already. Build 0 uses its own
 * collection name.
 */
export function asBuild(projection: Projection, { version, build, collection, rules }: Build): Projection {
  const isAsIs = rules === undefined || rules === projection.rules;
  const own = isAsIs ? projection : underRules(projection, rules);
  return { ...own, version, build, collection: { ...own.collection, name: collection } };
}

/** Folds clicks that were recorded under other rules as the present ones classify them. */
function underRules<D extends Document>(projection: Projection<D>, rules: string): Projection<D> {
  const { withdraw } = projection;
  return {
    ...projection,
    rules,
    evolve: (document, event, ...rest) => projection.evolve(document, reclassified(event, rules), ...rest),
    ...(withdraw && {
      withdraw: (document: Fields<D>, event: StoredEvent) =>
        withdraw.call(projection, document, reclassified(event, rules)),
    }),
  };
}

/** A build in progress as it is kept when it is complete. */
export function buildOf({ version, build, collection, rules }: Building): Build {
  return { version, build, collection, ...(rules !== undefined && { rules }) };
}

export function numbered(
  { version, collection }: { version: number; collection: { name: string } },
  build: number,
): Build {
  return { version, build, collection: build === 0 ? collection.name : `${collection.name}_b${build}` };
}

/** What queries of this program read: the active build, else the previous one, if its version is readable for them. */
export function queriedBuild(projection: Projection, builds: Builds): Projection | undefined {
  const entry = entryOf(projection, builds);
  const isReadable = (build: Build | undefined): build is Build =>
    build !== undefined &&
    build.version <= projection.version &&
    build.version >= (projection.readsSince ?? 1);
  const build = [entry.active, entry.previous].find(isReadable);
  return build && asBuild(projection, build);
}

/**
 * What this program keeps up to date: the build of its own version, as other versions fold by other code. One
 * under other rules isn't, as a withdrawn click would be taken out by another kind than it was counted by.
 */
export function foldedBuild(projection: Projection, builds: Builds): Projection | undefined {
  const entry = entryOf(projection, builds);
  const build = [entry.active, entry.previous].find((one) => one?.version === projection.version);
  return build && !isUnderOtherRules(build) ? asBuild(projection, build) : undefined;
}

/** The build in progress, if it is of this program's version and rules. */
export function buildingOf({ name, version }: Projection, builds: Builds): Building | undefined {
  const building = builds.projections[name]?.building;
  return building?.version === version && !isUnderOtherRules(building) ? building : undefined;
}

export function isSameBuild(
  one: Pick<Build, "version" | "build"> | undefined,
  other: Pick<Build, "version" | "build"> | undefined,
): boolean {
  return one !== undefined && one.version === other?.version && one.build === other.build;
}

/** Whether the build is listed as active, previous or in progress: not retired, as when it was cancelled. */
export function isKept({ name, version, build }: Projection, { projections }: Builds): boolean {
  const { active, previous, building } = projections[name] ?? {};
  return [active, previous, building].some((one) => isSameBuild(one, { version, build: build ?? 0 }));
}

/** Whether its clicks were classified again under other rules than this program's. */
export function isUnderOtherRules({ rules }: Pick<Build, "rules">): boolean {
  return rules !== undefined && rules !== PRESENT_RULES;
}

/** Without an entry in the builds document, build 0 is active. */
export function entryOf(projection: Projection, { projections }: Builds): ProjectionBuilds {
  return projections[projection.name] ?? { active: numbered(projection, 0) };
}
