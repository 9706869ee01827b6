// The read store for queries: maps the collections of projections, and the checkpoints of groups, to the build that answers.
import { atMostEvery } from "../../runtime/at-most-every.ts";
import { setAsideCollection } from "../../stores/coordination/set-aside.ts";
import type { CollectionSpec, ReadStore } from "../../stores/read-store/port.ts";
import { type Build, storeOfBuild } from "../fold/build.ts";
import { describeProgress } from "../fold/progress.ts";
import { groupCollections, type ProjectionGroup } from "../groups.ts";
import { type Builds, NO_BUILDS, queriedBuild } from "./builds.ts";
import { readBuilds } from "./builds-document.ts";
import { ProjectionNotBuilt } from "./errors.ts";

/** For how long the list of builds is cached: a query may read the previous build so long after a switch. */
const CACHED_FOR_MS = 500;
const RETRY_AFTER_S = { min: 1, max: 60 };

type Deps = { store: ReadStore; groups: readonly ProjectionGroup[]; clock: () => number };

/** `queried`: the build that the group's collections are read from at this moment. */
export type ActiveReadStore = ReadStore & { queried(group: ProjectionGroup): Promise<Build> };

/**
 * Reads of a group that has no build yet throw ProjectionNotBuilt. The checkpoint of a group has its name. Writes to
 * projections are refused, as builds are written directly; other collections and checkpoints are passed through. `clock`:
 * monotonic milliseconds.
 */
export function activeReadStore({ store, groups, clock }: Deps): ActiveReadStore {
  const byCollection = new Map<string, ProjectionGroup>();
  for (const group of groups) {
    for (const { name } of groupCollections(group)) byCollection.set(name, group);
    byCollection.set(setAsideCollection(group.name), group);
  }
  const byName = new Map(groups.map((group) => [group.name, group]));
  const finders = new Map(groups.map((group) => [group, buildFinder(store, group, clock)]));
  const queried = (group: ProjectionGroup) => (finders.get(group) as () => Promise<Build>)();
  const storeOf = async (group: ProjectionGroup | undefined) =>
    group ? storeOfBuild(store, group, await queried(group)) : store;
  const holding = (collection: string) => storeOf(byCollection.get(collection));
  const refuse = (name: string, isProjected: boolean) => {
    if (isProjected) throw new Error(`${name} is written by the fold of its build only`);
  };
  return {
    queried,
    ensure: (specs: readonly CollectionSpec[]) => store.ensure(specs),
    get: async (name, id) => (await holding(name)).get(name, id),
    getMany: async (name, ids, fields) => (await holding(name)).getMany(name, ids, fields),
    find: async (name, query) => (await holding(name)).find(name, query),
    count: async (name, query) => (await holding(name)).count(name, query),
    countElements: async (name, query) => (await holding(name)).countElements(name, query),
    async write(batch) {
      for (const { collection: name } of batch.documents) refuse(name, byCollection.has(name));
      if (batch.checkpoint) refuse(batch.checkpoint.name, byName.has(batch.checkpoint.name));
      await store.write(batch);
    },
    checkpoint: async (name) => (await storeOf(byName.get(name))).checkpoint(name),
    checkpoints: () => store.checkpoints(),
    inconsistency: (name) => store.inconsistency(name),
    async drop(name) {
      refuse(name, byCollection.has(name));
      await store.drop(name);
    },
    async dropCheckpoint(name) {
      refuse(name, byName.has(name));
      await store.dropCheckpoint(name);
    },
    close: () => store.close(),
  };
}

function notBuilt({ name }: ProjectionGroup, { building }: Builds): ProjectionNotBuilt {
  const progress = building?.progress;
  const seconds = Math.max(RETRY_AFTER_S.min, Math.min(RETRY_AFTER_S.max, progress?.secondsLeft ?? 2));
  const soFar = progress ? `: ${describeProgress(progress)}` : "";
  return new ProjectionNotBuilt(`What this is answered from (${name}) is being made${soFar}`, seconds);
}

/** Finds the build that is queried, by the list of builds as it was last read where it can't be read now. */
function buildFinder(store: ReadStore, group: ProjectionGroup, clock: () => number): () => Promise<Build> {
  let known = NO_BUILDS;
  const recent = atMostEvery(
    CACHED_FOR_MS,
    async () => {
      known = await readBuilds(store, group).catch(() => known);
      return known;
    },
    clock,
  );
  return async () => {
    const build = queriedBuild(group, await recent());
    if (build) return build;
    // Not by a cached list: the process is ready as soon as the stored one says so.
    const builds = await readBuilds(store, group);
    const fresh = queriedBuild(group, builds);
    if (!fresh) throw notBuilt(group, builds);
    return fresh;
  };
}
