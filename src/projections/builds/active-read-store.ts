// The read store as queries see it: under a projection's collection and checkpoint they find the build that answers.
import type { Checkpoint, ReadStore } from "../../read-store/port.ts";
import { checkpointName, type Projection } from "../projection.ts";
import { describeProgress } from "../runner/progress.ts";
import { answeringBuild, type Builds } from "./build.ts";
import { readBuilds } from "./builds-document.ts";
import { ProjectionNotBuilt } from "./errors.ts";

/** How long a query may still see the previous build after another became active. */
const KNOWN_FOR_MS = 500;
const RETRY_AFTER_S = { least: 1, most: 60 };

type Deps = { store: ReadStore; projections: readonly Projection[]; clock: () => number };

/**
 * Projections are written by their runners only, each as one build, so here such writes are refused; all else in the
 * store is as it is. `clock` in milliseconds. What queries ask of a projection without a build throws ProjectionNotBuilt.
 */
export function activeReadStore({ store, projections, clock }: Deps): ReadStore {
  const byCollection = new Map(projections.map((one) => [one.collection.name, one]));
  const byCheckpoint = new Map(projections.map((one) => [checkpointName(one), one]));
  const builds = freshBuilds(store, clock);

  const collection = async (name: string) => {
    const projection = byCollection.get(name);
    if (!projection) return name;
    const known = await builds();
    const build = answeringBuild(projection, known);
    if (!build) throw notBuilt(projection, known);
    return build.collection.name;
  };
  const refuseWrite = (known: boolean, name: string) => {
    if (known) throw new Error(`${name} is written by its projection's runner only`);
  };
  return {
    ensure: (specs) => store.ensure(specs),
    get: async (name, id) => store.get(await collection(name), id),
    getMany: async (name, ids) => store.getMany(await collection(name), ids),
    find: async (name, query) => store.find(await collection(name), query),
    count: async (name, query) => store.count(await collection(name), query),
    async replace(name, documents) {
      refuseWrite(byCollection.has(name), name);
      await store.replace(name, documents);
    },
    async clear(name) {
      refuseWrite(byCollection.has(name), name);
      await store.clear(name);
    },
    async drop(name) {
      refuseWrite(byCollection.has(name), name);
      await store.drop(name);
    },
    async checkpoint(name) {
      const projection = byCheckpoint.get(name);
      if (!projection) return await store.checkpoint(name);
      const build = answeringBuild(projection, await builds());
      return build && (await store.checkpoint(checkpointName(build)));
    },
    async checkpoints() {
      const all = await store.checkpoints();
      const known = await builds();
      const answering: [string, Checkpoint][] = [];
      for (const projection of projections) {
        const build = answeringBuild(projection, known);
        const checkpoint = build && all[checkpointName(build)];
        if (checkpoint) answering.push([checkpointName(projection), checkpoint]);
      }
      const others = Object.entries(all).filter(([name]) => !byCheckpoint.has(name));
      return Object.fromEntries([...others, ...answering]);
    },
    async saveCheckpoint(name, checkpoint) {
      refuseWrite(byCheckpoint.has(name), name);
      await store.saveCheckpoint(name, checkpoint);
    },
    async resetCheckpoint(name) {
      refuseWrite(byCheckpoint.has(name), name);
      await store.resetCheckpoint(name);
    },
    close: () => store.close(),
  };
}

function notBuilt({ name }: Projection, { projections }: Builds): ProjectionNotBuilt {
  const progress = projections[name]?.building?.progress;
  const seconds = Math.max(RETRY_AFTER_S.least, Math.min(RETRY_AFTER_S.most, progress?.secondsLeft ?? 2));
  const soFar = progress ? `: ${describeProgress(progress)}` : "";
  return new ProjectionNotBuilt(`What this is answered from (${name}) is being made${soFar}`, seconds);
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
