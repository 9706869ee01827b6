// The read store as queries see it: under a projection's name they find its live build (builds.ts).
import type { Checkpoint, ReadStore } from "../read-store/port.ts";
import { type Builds, liveOf, readBuilds } from "./builds.ts";
import { checkpointName } from "./checkpoint-name.ts";
import type { Projection } from "./projection.ts";

/** How long a query may still see the build before a swap. */
const KNOWN_FOR_MS = 500;

type Deps = { store: ReadStore; projections: readonly Projection[]; clock: () => number };

/**
 * Projections are written to as the build that their runner has chosen, so here their writes are refused; all else in
 * the store is as it is. `clock` in milliseconds.
 */
export function liveReadStore({ store, projections, clock }: Deps): ReadStore {
  const byCollection = new Map(projections.map((one) => [one.collection.name, one]));
  const byCheckpoint = new Map(projections.map((one) => [checkpointName(one), one]));
  const builds = freshBuilds(store, clock);

  const collection = async (name: string) => {
    const projection = byCollection.get(name);
    return projection ? liveOf(projection, await builds()).collection.name : name;
  };
  const written = (known: boolean, name: string) => {
    if (known) throw new Error(`${name} is written by its projection's runner only`);
  };
  return {
    ensure: (specs) => store.ensure(specs),
    get: async (name, id) => store.get(await collection(name), id),
    getMany: async (name, ids) => store.getMany(await collection(name), ids),
    find: async (name, query) => store.find(await collection(name), query),
    count: async (name, query) => store.count(await collection(name), query),
    async replace(name, documents) {
      written(byCollection.has(name), name);
      await store.replace(name, documents);
    },
    async clear(name) {
      written(byCollection.has(name), name);
      await store.clear(name);
    },
    async checkpoint(name) {
      const projection = byCheckpoint.get(name);
      return await store.checkpoint(projection ? checkpointName(liveOf(projection, await builds())) : name);
    },
    async checkpoints() {
      const all = await store.checkpoints();
      const live: [string, Checkpoint][] = [];
      for (const projection of projections) {
        const checkpoint = all[checkpointName(liveOf(projection, await builds()))];
        if (checkpoint) live.push([checkpointName(projection), checkpoint]);
      }
      const others = Object.entries(all).filter(([name]) => !byCheckpoint.has(name));
      return Object.fromEntries([...others, ...live]);
    },
    async saveCheckpoint(name, checkpoint) {
      written(byCheckpoint.has(name), name);
      await store.saveCheckpoint(name, checkpoint);
    },
    async resetCheckpoint(name) {
      written(byCheckpoint.has(name), name);
      await store.resetCheckpoint(name);
    },
    close: () => store.close(),
  };
}

/** One question for all callers of half a second; while the store doesn't answer, the last answer holds. */
function freshBuilds(store: ReadStore, clock: () => number): () => Promise<Builds> {
  let known: Builds | undefined;
  let knownUntil = Number.NEGATIVE_INFINITY;
  let asking: Promise<Builds> | undefined;
  return async () => {
    if (known && clock() < knownUntil) return known;
    asking ??= readBuilds(store).finally(() => {
      asking = undefined;
    });
    try {
      known = await asking;
    } catch (error) {
      if (!known) throw error;
    }
    knownUntil = clock() + KNOWN_FOR_MS;
    return known;
  };
}
