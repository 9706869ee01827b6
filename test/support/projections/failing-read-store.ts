// A test double: a real read store that fails at chosen writes, before or after they took effect.
import { CheckpointMoved, isSameCheckpoint, type ReadStore } from "../../../src/stores/read-store/port.ts";
import { storeWith } from "../runtime/store-with.ts";

export type Break = { afterWrites: number; applied: boolean };

/**
 * As a store without transactions: the documents of each collection are a write, or with `isByDocument` each document, and so
 * are removals and the checkpoint. Each failure is counted from the one before it; after the last one the store works.
 */
export function failingReadStore(
  sound: ReadStore,
  breaks: readonly Break[],
  { isByDocument = false } = {},
): ReadStore {
  const waiting = [...breaks];
  let writes = 0;
  const step = async (work: () => Promise<void>) => {
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
    async write({ documents, checkpoint }) {
      const stored = checkpoint && (await sound.checkpoint(checkpoint.name));
      if (checkpoint && !isSameCheckpoint(stored, checkpoint.from))
        throw new CheckpointMoved(checkpoint.name, stored);
      for (const { collection, documents: changed, replaced, removed = [] } of documents) {
        const parts = isByDocument
          ? changed.map((document) => [document])
          : changed.length > 0
            ? [changed]
            : [];
        for (const part of parts) {
          const of = replaced && new Map(part.map(({ _id }) => [_id, replaced.get(_id) ?? ""]));
          await step(() =>
            sound.write({ documents: [{ collection, documents: part, ...(of && { replaced: of }) }] }),
          );
        }
        for (const one of removed)
          await step(() => sound.write({ documents: [{ collection, documents: [], removed: [one] }] }));
      }
      if (checkpoint) await step(() => sound.write({ documents: [], checkpoint }));
    },
  });
}
