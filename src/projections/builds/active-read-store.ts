// The read store for queries: maps a projection's collection and checkpoint names to the build that can be queried.

import type { Position } from "../../stores/event-store/port.ts";
import type { Checkpoint, ReadStore } from "../../stores/read-store/port.ts";
import { setAsideCollection } from "../../stores/read-store/set-aside.ts";
import { checkpointName, collectionsOf, type Projection, partsCollection } from "../projection.ts";
import { describeProgress } from "../runner/progress.ts";
import { type Builds, queriedBuild } from "./build.ts";
import { readBuilds } from "./builds-document.ts";
import { ProjectionNotBuilt } from "./errors.ts";

/** For how long the list of builds is cached: a query may read the previous build so long after a switch. */
const CACHED_FOR_MS = 500;
const RETRY_AFTER_S = { min: 1, max: 60 };

type Deps = { store: ReadStore; projections: readonly Projection[]; clock: () => number };

/**
 * Reads of a projection that has no build yet throw ProjectionNotBuilt. Writes to projections are refused, as runners
 * write builds directly; other collections and checkpoints are passed through. `clock`: monotonic milliseconds.
 */
export function activeReadStore({ store, projections, clock }: Deps): ReadStore {
  const byCollection = new Map(
    projections.flatMap((one) => {
      const names = [...collectionsOf(one).map(({ name }) => name), setAsideCollection(one.collection.name)];
      return names.map((name) => [name, one] as const);
    }),
  );
  const byCheckpoint = new Map(projections.map((one) => [checkpointName(one), one]));
  const builds = cachedBuilds(store, clock);
  const hasReached = reachedPositions(store);

  const buildOf = async (projection: Projection) => {
    const cached = queriedBuild(projection, await builds.current());
    if (cached) return cached;
    // Not by a cached list: the process is ready as soon as the stored one says so.
    const known = await builds.fresh();
    const build = queriedBuild(projection, known);
    if (!build) throw notBuilt(projection, known);
    return build;
  };
  const collection = async (name: string) => {
    const projection = byCollection.get(name);
    if (!projection) return name;
    const built = (await buildOf(projection)).collection.name;
    if (name === setAsideCollection(projection.collection.name)) return setAsideCollection(built);
    return name === projection.collection.name ? built : partsCollection(built);
  };
  const unlessProjected =
    <Rest extends unknown[]>(
      projected: ReadonlyMap<string, Projection>,
      write: (name: string, ...rest: Rest) => Promise<void>,
    ) =>
    async (name: string, ...rest: Rest) => {
      if (projected.has(name)) throw new Error(`${name} is written by its projection's runner only`);
      await write(name, ...rest);
    };
  return {
    ensure: (specs) => store.ensure(specs),
    get: async (name, id) => store.get(await collection(name), id),
    async getUpTo(name, id, position) {
      const projection = byCollection.get(name);
      if (!projection) return { document: await store.get(name, id), isComplete: false };
      const build = await buildOf(projection);
      // Before the document, which may be committed together with the next position.
      const isComplete = await hasReached(checkpointName(build), position);
      return { document: await store.get(build.collection.name, id), isComplete };
    },
    getMany: async (name, ids, fields) => store.getMany(await collection(name), ids, fields),
    find: async (name, query) => store.find(await collection(name), query),
    count: async (name, query) => store.count(await collection(name), query),
    replace: unlessProjected(byCollection, (name, documents) => store.replace(name, documents)),
    readsAtATime: store.readsAtATime,
    writeBatch: () => {
      throw new Error("Only the runner of a projection writes batches, to the unmapped store");
    },
    drop: unlessProjected(byCollection, (name) => store.drop(name)),
    async checkpoint(name) {
      const projection = byCheckpoint.get(name);
      if (!projection) return await store.checkpoint(name);
      const build = queriedBuild(projection, await builds.current());
      return build && (await store.checkpoint(checkpointName(build)));
    },
    async checkpoints() {
      const all = await store.checkpoints();
      const known = await builds.current();
      const queried: [string, Checkpoint][] = [];
      for (const projection of projections) {
        const build = queriedBuild(projection, known);
        const checkpoint = build && all[checkpointName(build)];
        if (checkpoint) queried.push([checkpointName(projection), checkpoint]);
      }
      const others = Object.entries(all).filter(([name]) => !byCheckpoint.has(name));
      return Object.fromEntries([...others, ...queried]);
    },
    saveCheckpoint: unlessProjected(byCheckpoint, (name, checkpoint) =>
      store.saveCheckpoint(name, checkpoint),
    ),
    resetCheckpoint: unlessProjected(byCheckpoint, (name) => store.resetCheckpoint(name)),
    close: () => store.close(),
  };
}

function notBuilt({ name }: Projection, { projections }: Builds): ProjectionNotBuilt {
  const progress = projections[name]?.building?.progress;
  const seconds = Math.max(RETRY_AFTER_S.min, Math.min(RETRY_AFTER_S.max, progress?.secondsLeft ?? 2));
  const soFar = progress ? `: ${describeProgress(progress)}` : "";
  return new ProjectionNotBuilt(`What this is answered from (${name}) is being made${soFar}`, seconds);
}

/** Whether a build has reached a position, by the name of its checkpoint; read only if the last is not enough. */
function reachedPositions(store: ReadStore) {
  const known = new Map<string, Position>();
  return async (checkpoint: string, wanted: Position): Promise<boolean> => {
    if ((known.get(checkpoint) ?? "") >= wanted) return true;
    const position = (await store.checkpoint(checkpoint))?.position ?? "";
    known.set(checkpoint, position);
    return position >= wanted;
  };
}

type CachedBuilds = { current(): Promise<Builds>; fresh(): Promise<Builds> };

/** Concurrent callers share one read; when the read fails, the cached list is used for another half second. */
function cachedBuilds(store: ReadStore, clock: () => number): CachedBuilds {
  let cached: Builds | undefined;
  let expiresAt = Number.NEGATIVE_INFINITY;
  let reading: Promise<Builds> | undefined;
  const fresh = async () => {
    reading ??= readBuilds(store).finally(() => {
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
