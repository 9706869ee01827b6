// A fault double: a real read store that loses one write of the builds document, as a server whose conditional updates are not atomic may.
import type { Builds } from "../../../src/projections/builds/build.ts";
import type { Document, ReadStore } from "../../../src/read-store/port.ts";
import { storeWith } from "../runtime/store-with.ts";

type StoredBuilds = Document & { builds: Builds };

/**
 * The first write whose builds are `chosen` is found in place by the writer's own read after it, and is undone before the
 * next read, as by a concurrent write that began before it. `reads`: how often the document was read since.
 */
export function undoingOneWrite(
  store: ReadStore,
  chosen: (builds: Builds) => boolean,
): { readStore: ReadStore; reads(): number } {
  let before: StoredBuilds | undefined;
  let reads = 0;
  const readStore = storeWith(store, {
    async get<D extends Document>(collection: string, id: string) {
      if (before && id === before._id && ++reads === 2) {
        await store.drop(collection);
        await store.replace(collection, [before]);
      }
      return await store.get<D>(collection, id);
    },
    async replace(collection: string, documents: readonly Document[]) {
      const [written] = documents as StoredBuilds[];
      if (!before && written?.builds && chosen(written.builds))
        before = await store.get<StoredBuilds>(collection, written._id);
      await store.replace(collection, documents);
    },
  });
  return { readStore, reads: () => reads };
}
