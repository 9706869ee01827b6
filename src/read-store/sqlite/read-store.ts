// The read store on SQLite, with slow calls in a thread of its own when the caller must not be blocked.
import { StoreUnavailable } from "../../connections/errors.ts";
import { remoteMethods, threadClient } from "../../runtime/threads/thread-client.ts";
import type { FindQuery, ReadStore } from "../port.ts";
import { openSynchronousReadStore } from "./synchronous-read-store.ts";

/** The thread is ended after so long without a call. */
const IDLE_MS = 60_000;
/** Maximum of documents that are read in the caller's thread. */
const MAX_DIRECT = 100;
/** Each commit of the projector empties the cache of those who only read. */
const READER_CACHE_MB = 8;

const OFF_THREAD = [
  ...(["getMany", "find", "count", "replace", "commit", "clear", "drop"] as const),
  ...(["saveCheckpoint", "resetCheckpoint"] as const),
] as const;

/**
 * Opens or creates the file. `offThread`: searches, counts, reads of many documents and writes run in a thread of its
 * own, started by the first of them. Reads of a document by id, or of few by equality, stay in the caller's thread, where
 * they take a fifth of the CPU time of a call to another thread. Default false: all calls are synchronous.
 */
export async function openSqliteReadStore(file: string, { offThread = false } = {}): Promise<ReadStore> {
  if (!offThread) return openSynchronousReadStore(file);
  const here = openSynchronousReadStore(file, { cacheMb: READER_CACHE_MB });
  const thread = threadClient({
    file: new URL("./thread.ts", import.meta.url),
    name: "read-store",
    data: { file },
    toError: (message, cause) => new StoreUnavailable(message, { cause }),
    idleMs: IDLE_MS,
  });
  const remote = remoteMethods<ReadStore, (typeof OFF_THREAD)[number]>(thread, "readStore", OFF_THREAD);
  return {
    ...remote,
    // Called once at the start, so it is no reason to start the thread.
    ensure: (specs) => here.ensure(specs),
    get: (collection, id) => here.get(collection, id),
    checkpoint: (projection) => here.checkpoint(projection),
    checkpoints: () => here.checkpoints(),
    getMany: (collection, ids, fields) =>
      (ids.length <= MAX_DIRECT ? here : remote).getMany(collection, ids, fields),
    find: (collection, query) => (isLookup(query) ? here : remote).find(collection, query),
    async close() {
      await thread.close();
      await here.close();
    },
  };
}

/** By equality alone, which an index answers; sorted, ranged and text searches may scan many documents. */
function isLookup({ sort, range, contains, limit }: FindQuery): boolean {
  return !sort && !range && !contains && limit <= MAX_DIRECT;
}
