// Opens the read store on SQLite; for who serves requests with a thread of its own, for what they must not wait for.
import { remoteMethods, threadClient } from "../../../runtime/threads/thread-client.ts";
import { storeError } from "../../connections/errors.ts";
import type { FindQuery, ReadStore } from "../port.ts";
import { SqliteReadStore, throwIfMoved, type WriteOutcome } from "./synchronous-read-store.ts";

/** The thread is ended after so long without a call. */
const IDLE_MS = 60_000;
/** Maximum of documents that are read in the caller's thread. */
const MAX_DIRECT = 100;
const OFF_THREAD = ["getMany", "find", "count", "drop", "dropCheckpoint"] as const;

/**
 * Opens or creates the file. `offThread`: searches, counts, reads of many documents and writes run in a thread of its
 * own, started by the first of them. Reads of a document by id, or of few by equality, stay in the caller's thread, where
 * they take a tenth of the CPU time of a call to another thread. Default false, as for who folds. `readOnly`: nothing in
 * the file's folder changes; not with `offThread`. @throws StoreUnavailable, StoreFailed
 */
export async function openSqliteReadStore(
  file: string,
  { offThread = false, readOnly = false } = {},
): Promise<ReadStore> {
  return offThread ? openForRequests(file) : new SqliteReadStore(file, { readOnly });
}

function openForRequests(file: string): ReadStore {
  const here = new SqliteReadStore(file);
  const thread = threadClient({
    file: new URL("./thread.ts", import.meta.url),
    name: "read-store",
    data: { file },
    toError: storeError,
    idleMs: IDLE_MS,
  });
  const remote = remoteMethods<ReadStore, (typeof OFF_THREAD)[number]>(thread, "readStore", OFF_THREAD);
  return {
    ...remote,
    // Called once at the start, so it is no reason to start the thread.
    ensure: (specs) => here.ensure(specs),
    get: (collection, id) => here.get(collection, id),
    checkpoint: (name) => here.checkpoint(name),
    checkpoints: () => here.checkpoints(),
    getMany: (collection, ids, fields) =>
      (ids.length <= MAX_DIRECT ? here : remote).getMany(collection, ids, fields),
    find: (collection, query) => (isLookup(query) ? here : remote).find(collection, query),
    async write(batch) {
      throwIfMoved(batch, (await thread.call("readStore", "tryWrite", [batch])) as WriteOutcome);
    },
    async close() {
      await thread.close();
      await here.close();
    },
  };
}

/** By equality alone, which an index answers; sorted, ranged and text searches may scan many documents. */
function isLookup({ sort, range, in: among, notIn, contains, limit }: FindQuery): boolean {
  return !sort && !range && !among && !notIn && !contains && limit <= MAX_DIRECT;
}
