// The one document that says which builds of all projections there are, changed by guarded writes only.
import type { Document, ReadStore } from "../../read-store/port.ts";
import type { Build, Builds } from "./build.ts";

type Store = Pick<ReadStore, "get" | "replace">;
type StoredBuilds = Document & { token: string; builds: Builds };
/** Of the versions that knew only rebuilds: build numbers by checkpoint name without a build, such as `links:1`. */
type EarlierBuilds = Document & {
  builds: { live: Record<string, number>; before: Record<string, number>; next: number };
};

const COLLECTION = "projection-builds";
const ID = "projections";
const EARLIER_ID = "builds";
const MOST_RACES = 50;

export async function readBuilds(store: Pick<ReadStore, "get">): Promise<Builds> {
  const stored = await store.get<StoredBuilds>(COLLECTION, ID);
  return stored?.builds ?? fromEarlier(await store.get<EarlierBuilds>(COLLECTION, EARLIER_ID));
}

/**
 * Swaps the one document. `change` is called again when another process was faster, also when its write may have been
 * in time, so it must do nothing when it finds its work done. @throws whatever `change` and the store throw
 */
export async function changeBuilds(
  store: Store,
  newId: () => string,
  change: (builds: Builds) => void,
): Promise<Builds> {
  for (let race = 0; race < MOST_RACES; race++) {
    const stored = await store.get<StoredBuilds>(COLLECTION, ID);
    const builds = structuredClone(stored?.builds ?? (await readBuilds(store)));
    const before = JSON.stringify(builds);
    change(builds);
    if (stored && JSON.stringify(builds) === before) return builds;
    const token = newId();
    const turn = String(Number(stored?._position ?? "0") + 1).padStart(20, "0");
    // The store keeps the first of two with the same turn.
    await store.replace(COLLECTION, [{ _id: ID, _position: turn, token, builds } as StoredBuilds]);
    if ((await store.get<StoredBuilds>(COLLECTION, ID))?.token === token) return builds;
  }
  throw new Error("The builds of projections are changed by too many others at once");
}

/** A collection's name before any rebuild, by which the builds of earlier versions of the program are found. */
export function collectionOf(name: string, version: number): string {
  return version === 1 ? name : `${name}-${version}`;
}

function fromEarlier(earlier: EarlierBuilds | undefined): Builds {
  const builds: Builds = { projections: {}, retired: {}, next: earlier?.builds.next ?? 1 };
  const { live = {}, before = {} } = earlier?.builds ?? {};
  const oldestFirst = Object.keys(live).sort((a, b) => versionOf(a) - versionOf(b));
  for (const checkpoint of oldestFirst) {
    const name = checkpoint.slice(0, checkpoint.lastIndexOf(":"));
    const version = versionOf(checkpoint);
    const build = (number: number): Build => {
      const own = collectionOf(name, version);
      return { version, build: number, collection: number === 0 ? own : `${own}_b${number}` };
    };
    const previous = before[checkpoint];
    builds.projections[name] = {
      active: build(live[checkpoint] ?? 0),
      ...(previous === undefined ? {} : { previous: build(previous) }),
    };
  }
  return builds;
}

function versionOf(checkpoint: string): number {
  return Number(checkpoint.slice(checkpoint.lastIndexOf(":") + 1));
}
