// Builds of projections: the same fold in collections of its own, side by side; one document says which are live.
import type { Document, ReadStore } from "../read-store/port.ts";
import { checkpointName } from "./checkpoint-name.ts";
import type { Projection } from "./projection.ts";

/** The keys are checkpoint names without a build, such as `links:1`; a projection that was never rebuilt has build 0. */
export type Builds = {
  live: Record<string, number>;
  /** What was live before it, kept for a roll-back. */
  before: Record<string, number>;
  building: Record<string, Building>;
  /** Never given twice, so that a late write to a build that is gone meets no other. */
  next: number;
};

/** `by`: who builds; `aliveAt`: ISO 8601 UTC, renewed while that goes on. */
export type Building = { build: number; by: string; aliveAt: string };

type StoredBuilds = Document & { token: string; builds: Builds };

type Store = Pick<ReadStore, "get" | "replace">;

const COLLECTION = "projection-builds";
const ID = "builds";
const NONE: Builds = { live: {}, before: {}, building: {}, next: 1 };
const MOST_RACES = 20;

/** A projection as its build: with a collection and a checkpoint of its own. */
export function buildOf(projection: Projection, build: number): Projection {
  if (build === 0) return projection;
  const { name, indexes } = projection.collection;
  return { ...projection, build, collection: { name: `${name}_b${build}`, indexes } };
}

/** The live build, unless it is a certain build already. */
export function liveOf(projection: Projection, { live }: Builds): Projection {
  return projection.build === undefined
    ? buildOf(projection, live[checkpointName(projection)] ?? 0)
    : projection;
}

export async function readBuilds(store: Pick<ReadStore, "get">): Promise<Builds> {
  return (await store.get<StoredBuilds>(COLLECTION, ID))?.builds ?? NONE;
}

/**
 * Swaps the one document. `change` is asked again when another process was faster, also when it may have been in time,
 * so it must do nothing when it finds its work done. @throws whatever `change` and the store throw
 */
export async function changeBuilds(
  store: Store,
  newId: () => string,
  change: (builds: Builds) => void,
): Promise<Builds> {
  for (let race = 0; race < MOST_RACES; race++) {
    const stored = await store.get<StoredBuilds>(COLLECTION, ID);
    const builds = structuredClone(stored?.builds ?? NONE);
    change(builds);
    const token = newId();
    const turn = String(Number(stored?._position ?? "0") + 1).padStart(20, "0");
    // The store keeps the first of two with the same turn.
    await store.replace(COLLECTION, [{ _id: ID, _position: turn, token, builds } as StoredBuilds]);
    if ((await store.get<StoredBuilds>(COLLECTION, ID))?.token === token) return builds;
  }
  throw new Error("The builds of projections are changed by too many others at once");
}
