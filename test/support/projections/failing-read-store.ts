// A test double: a real read store that fails at chosen writes, before or after they took effect.
import { mongodbWriteBatch } from "../../../src/stores/read-store/mongodb/write-batch.ts";
import type { ReadStore } from "../../../src/stores/read-store/port.ts";
import { storeWith } from "../runtime/store-with.ts";

export type Break = { afterWrites: number; applied: boolean };

/** Each failure is counted from the one before it; after the last one the store works. */
export function failingReadStore(sound: ReadStore, breaks: readonly Break[]): ReadStore {
  const waiting = [...breaks];
  let writes = 0;
  const write = async (work: () => Promise<void>) => {
    const next = waiting[0];
    if (!next || writes < next.afterWrites) {
      writes += 1;
      return await work();
    }
    waiting.shift();
    writes = 0;
    if (next.applied) await work();
    throw new Error("the read store is unavailable");
  };
  return storeWith(sound, {
    replace: (collection, documents) => write(() => sound.replace(collection, documents)),
    // As a store without transactions, which may fail between two writes.
    writeBatch: () =>
      mongodbWriteBatch({
        replace: (collection, documents) => write(() => sound.replace(collection, documents)),
        saveCheckpoint: (name, checkpoint) => write(() => sound.saveCheckpoint(name, checkpoint)),
      }),
    saveCheckpoint: (name, checkpoint) => write(() => sound.saveCheckpoint(name, checkpoint)),
  });
}
