// The read store for queries: maps the collections of projections, and the checkpoints of groups, to the build that answers.
import { setAsideCollection } from "../../stores/coordination/set-aside.ts";
import type { CollectionSpec, ReadStore } from "../../stores/read-store/port.ts";
import { type Build, checkpointName, collectionName, notesName } from "../fold/build.ts";
import { describeProgress } from "../fold/progress.ts";
import { groupCollections, type ProjectionGroup } from "../groups.ts";
import { type Builds, queriedBuild } from "./builds.ts";
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
  const cached = new Map(groups.map((group) => [group, cachedBuilds(store, group, clock)]));

  const buildOf = async (group: ProjectionGroup): Promise<Build> => {
    const builds = cached.get(group) as CachedBuilds;
    const known = queriedBuild(group, await builds.current());
    if (known) return known;
    // Not by a cached list: the process is ready as soon as the stored one says so.
    const fresh = await builds.fresh();
    const build = queriedBuild(group, fresh);
    if (!build) throw notBuilt(group, fresh);
    return build;
  };
  const collection = async (name: string) => {
    const group = byCollection.get(name);
    if (!group) return name;
    const build = await buildOf(group);
    return name === setAsideCollection(group.name) ? notesName(group, build) : collectionName(name, build);
  };
  const refuse = (name: string, isProjected: boolean) => {
    if (isProjected) throw new Error(`${name} is written by the fold of its build only`);
  };
  return {
    queried: buildOf,
    ensure: (specs: readonly CollectionSpec[]) => store.ensure(specs),
    get: async (name, id) => store.get(await collection(name), id),
    getMany: async (name, ids, fields) => store.getMany(await collection(name), ids, fields),
    find: async (name, query) => store.find(await collection(name), query),
    count: async (name, query) => store.count(await collection(name), query),
    countElements: async (name, query) => store.countElements(await collection(name), query),
    async write(batch) {
      for (const { collection: name } of batch.documents) refuse(name, byCollection.has(name));
      if (batch.checkpoint) refuse(batch.checkpoint.name, byName.has(batch.checkpoint.name));
      await store.write(batch);
    },
    async checkpoint(name) {
      const group = byName.get(name);
      return await store.checkpoint(group ? checkpointName(group, await buildOf(group)) : name);
    },
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

type CachedBuilds = { current(): Promise<Builds>; fresh(): Promise<Builds> };

/** Concurrent callers share one read; when the read fails, the cached list is used for another half second. */
function cachedBuilds(store: ReadStore, group: ProjectionGroup, clock: () => number): CachedBuilds {
  let cached: Builds | undefined;
  let expiresAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<Builds> | undefined;
  const fresh = async () => {
    reading ??= readBuilds(store, group).finally(() => {
      reading = undefined;
    });
    try {
      cached = await reading;
    } catch (error) {
      if (!cached) throw error;
    }
    expiresAt = clock() + CACHED_FOR_MS;
    return cached;
  };
  const current = async () => (cached && clock() < expiresAt ? cached : await fresh());
  return { current, fresh };
}
