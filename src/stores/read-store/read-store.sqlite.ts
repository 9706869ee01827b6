// Opens the read store on SQLite; for who serves requests with another thread, for what they must not wait for.
import type { Calls } from "../../runtime/threads/calls.ts";
import { remoteMethods } from "../../runtime/threads/remote.ts";
import type { FindQuery, ReadStore } from "./port.ts";
import { SqliteReadStore, throwIfMoved, type WriteOutcome } from "./synchronous-read-store.sqlite.ts";

/** Maximum of documents that are read in the caller's thread. */
const MAX_DIRECT = 100;
const OFF_THREAD = ["getMany", "find", "count", "countElements", "drop", "dropCheckpoint"] as const;

export type ReadStoreOptions = {
  /**
   * Serves the same file under the name `readStore`: searches, counts, reads of many documents and writes go there. Reads of
   * a document by id, or of few by equality, stay in the caller's thread, where they take a tenth of the CPU time of a call.
   */
  thread?: Pick<Calls, "call"> | undefined;
  /** Nothing in the file's folder changes; not with `thread`. */
  readOnly?: boolean;
};

/** Opens or creates the file. @throws StoreUnavailable, StoreFailed */
export async function openSqliteReadStore(
  file: string,
  { thread, readOnly = false }: ReadStoreOptions = {},
): Promise<ReadStore> {
  return thread ? withSearches(new SqliteReadStore(file), thread) : new SqliteReadStore(file, { readOnly });
}

function withSearches(here: SqliteReadStore, thread: Pick<Calls, "call">): ReadStore {
  const remote = remoteMethods<ReadStore, (typeof OFF_THREAD)[number]>(thread, "readStore", OFF_THREAD);
  return {
    ...remote,
    // Called once at the start, so it is no reason to start the thread.
    ensure: (specs) => here.ensure(specs),
    get: (collection, id) => here.get(collection, id),
    checkpoint: (name) => here.checkpoint(name),
    checkpoints: () => here.checkpoints(),
    inconsistency: () => here.inconsistency(),
    getMany: (collection, ids, fields) =>
      (ids.length <= MAX_DIRECT ? here : remote).getMany(collection, ids, fields),
    find: (collection, query) => (isLookup(query) ? here : remote).find(collection, query),
    async write(batch) {
      throwIfMoved(batch, (await thread.call("readStore", "tryWrite", [batch])) as WriteOutcome);
    },
    close: () => here.close(),
  };
}

/** By equality alone, which an index answers; sorted, ranged and text searches may scan many documents. */
function isLookup({ sort, range, in: among, notIn, contains, limit }: FindQuery): boolean {
  return !sort && !range && !among && !notIn && !contains && limit <= MAX_DIRECT;
}
