// The document that lists the builds of all projections, changed by compare-and-swap.
import type { Document, ReadStore } from "../../stores/read-store/port.ts";
import type { Builds } from "./build.ts";

export type BuildsDeps = { readStore: Pick<ReadStore, "get" | "replace">; newId: () => string };
type StoredBuilds = Document & { token: string; builds: Builds };
const COLLECTION = "projection-builds";
const ID = "projections";
const NONE: Builds = { projections: {}, retired: {}, next: 1 };
const MAX_ATTEMPTS = 50;

export async function readBuilds(store: Pick<ReadStore, "get">): Promise<Builds> {
  const stored = await store.get<StoredBuilds>(COLLECTION, ID);
  return stored?.builds ?? structuredClone(NONE);
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
    const builds = structuredClone(stored?.builds ?? NONE);
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
