// The document that lists the builds of all projections, changed by compare-and-swap.
import type { Document, ReadStore } from "../../read-store/port.ts";
import { type Builds, numbered } from "./build.ts";

export type BuildsDeps = { readStore: Pick<ReadStore, "get" | "replace">; newId: () => string };
type StoredBuilds = Document & { token: string; builds: Builds };
/** As written before version upgrades were builds: build numbers by `name:version`, such as `links:1`. */
type EarlierBuilds = Document & {
  builds: { live: Record<string, number>; before: Record<string, number>; next: number };
};

const COLLECTION = "projection-builds";
const ID = "projections";
const EARLIER_ID = "builds";
const MAX_ATTEMPTS = 50;

export async function readBuilds(store: Pick<ReadStore, "get">): Promise<Builds> {
  const stored = await store.get<StoredBuilds>(COLLECTION, ID);
  return stored?.builds ?? fromEarlier(await store.get<EarlierBuilds>(COLLECTION, EARLIER_ID));
}

/**
 * Reads the document, applies `change` and writes it back if nobody has written it meanwhile; else tries again with what
 * the other has written. `change` must be idempotent: an attempt that seemed to fail may have been stored. What it reads
 * itself is as new as the document.
 * @throws what `change` and the store throw
 */
export async function changeBuilds(
  { readStore, newId }: BuildsDeps,
  change: (builds: Builds) => void | Promise<void>,
): Promise<Builds> {
  for (let race = 0; race < MAX_ATTEMPTS; race++) {
    const stored = await readStore.get<StoredBuilds>(COLLECTION, ID);
    const builds = structuredClone(stored?.builds ?? (await readBuilds(readStore)));
    const before = JSON.stringify(builds);
    await change(builds);
    if (stored && JSON.stringify(builds) === before) return builds;
    const token = newId();
    const revision = String(Number(stored?._position ?? "0") + 1).padStart(20, "0");
    // `replace` ignores a document whose `_position` is not higher than the stored one, so the first writer wins.
    await readStore.replace(COLLECTION, [{ _id: ID, _position: revision, token, builds } as StoredBuilds]);
    if ((await readStore.get<StoredBuilds>(COLLECTION, ID))?.token === token) return builds;
  }
  throw new Error("The builds of projections are changed by too many processes concurrently");
}

/** The collection of a version's build 0, as versions of the program before the builds document named it. */
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
    const own = { version, collection: { name: collectionOf(name, version) } };
    const previous = before[checkpoint];
    builds.projections[name] = {
      active: numbered(own, live[checkpoint] ?? 0),
      ...(previous !== undefined && { previous: numbered(own, previous) }),
    };
  }
  return builds;
}

function versionOf(checkpoint: string): number {
  return Number(checkpoint.slice(checkpoint.lastIndexOf(":") + 1));
}
