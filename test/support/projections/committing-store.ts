// A test double: a real read store whose write batches a test sees, holds up or refuses when they are to be written.
import type { DocumentWrites } from "../../../src/projections/runner/projection-processor.ts";
import type { BatchWrite, ReadStore, WriteBatch } from "../../../src/stores/read-store/port.ts";
import { storeWith } from "../runtime/store-with.ts";

/** `changed`: as they were added. */
export type Commit = BatchWrite & { changed: DocumentWrites };

/** `onCommit`: is given what is to be written, and writes it. */
export type OnCommit = (commit: Commit, write: () => Promise<void>) => Promise<void>;

export function committingStore(
  store: ReadStore,
  onCommit: OnCommit,
  more: Partial<ReadStore> = {},
): ReadStore {
  return storeWith<ReadStore>(store, { ...more, writeBatch: () => committingBatch(store, onCommit) });
}

function committingBatch(store: ReadStore, onCommit: OnCommit): WriteBatch {
  const batch = store.writeBatch();
  const changed: DocumentWrites[number][] = [];
  return {
    get size() {
      return batch.size;
    },
    add(collection, documents) {
      changed.push({ collection, documents });
      batch.add(collection, documents);
    },
    write: (how) => onCommit({ ...how, changed }, () => batch.write(how)),
  };
}
