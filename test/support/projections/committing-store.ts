// A test double: a real read store whose commits a test sees, holds up or refuses when they are to be written.
import type { ReadStore, WriteBatch } from "../../../src/stores/read-store/port.ts";
import { storeWith } from "../runtime/store-with.ts";

/** Is given what is to be written, and writes it. */
export type OnCommit = (batch: WriteBatch, write: () => Promise<void>) => Promise<void>;

export function committingStore(
  store: ReadStore,
  onCommit: OnCommit,
  more: Partial<ReadStore> = {},
): ReadStore {
  return storeWith<ReadStore>(store, {
    ...more,
    write: (batch) => onCommit(batch, () => store.write(batch)),
  });
}
