// Documents on their way into MongoDB, by collection, so that each bulk write has as many as it may.
import type { BatchWrite, Document, ReadStore, WriteBatch } from "../port.ts";

export function mongodbWriteBatch(store: Pick<ReadStore, "replace" | "saveCheckpoint">): WriteBatch {
  const changed = new Map<string, Document[]>();
  let size = 0;
  return {
    get size() {
      return size;
    },
    add(collection, documents) {
      const added = changed.get(collection) ?? [];
      changed.set(collection, added);
      added.push(...documents);
      size += documents.length;
    },
    async write({ checkpoints }: BatchWrite) {
      for (const [collection, documents] of changed)
        if (documents.length > 0) await store.replace(collection, documents);
      const saves = Object.entries(checkpoints).map(([name, one]) => store.saveCheckpoint(name, one));
      await Promise.all(saves);
    },
  };
}
