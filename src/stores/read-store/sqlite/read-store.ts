// The read store on SQLite, with a thread of its own for what the caller must not wait for.

import { remoteMethods, type ThreadClient, threadClient } from "../../../runtime/threads/thread-client.ts";
import { storeError } from "../../connections/errors.ts";
import type { Document, FindQuery, ReadStore } from "../port.ts";
import { SqliteReadStore } from "./synchronous-read-store.ts";
import type { BatchRows } from "./write-batch.ts";

/** The thread is ended after so long without a call. */
const IDLE_MS = 60_000;
/** Maximum of documents that are read in the caller's thread. */
const MAX_DIRECT = 100;
/** Below the priority of redirects: searches may take longer. */
const SEARCH_NICENESS = 5;

const OFF_THREAD = [
  ...(["getMany", "find", "count", "replace", "drop"] as const),
  ...(["saveCheckpoint", "resetCheckpoint"] as const),
] as const;

/** What the thread is started with (thread.ts). */
export type ReadStoreThreadData = { file: string; niceness: number };

/**
 * Opens or creates the file. `offThread`: searches, counts, reads of many documents and writes run in a thread of its
 * own, started by the first of them. Reads of a document by id, or of few by equality, stay in the caller's thread, where
 * they take a fifth of the CPU time of a call to another thread. Default false, as for who folds: only batches that are
 * written meanwhile are in a thread. `readOnly`: nothing in the file's folder changes; not with `offThread`.
 */
export async function openSqliteReadStore(
  file: string,
  { offThread = false, readOnly = false } = {},
): Promise<ReadStore> {
  if (readOnly) return new SqliteReadStore(file, { readOnly });
  return offThread ? openForRequests(file) : new WritesInThread(file);
}

/** The thread is started by the first batch that is written meanwhile. */
class WritesInThread extends SqliteReadStore {
  readonly #thread: ThreadClient;

  constructor(file: string) {
    super(file);
    this.#thread = startedWhenNeeded("commits", { file, niceness: 0 });
  }

  protected override async writeMeanwhile(rows: BatchRows): Promise<void> {
    await this.#thread.call("readStore", "write", [rows]);
  }

  override async close(): Promise<void> {
    await this.#thread.close();
    await super.close();
  }
}

/** The lookups of one task of the event loop see one state of the file. */
class SharesLookups extends SqliteReadStore {
  override get<D extends Document>(collection: string, id: string): Promise<D | undefined> {
    this.snapshot.begin();
    return super.get(collection, id);
  }
}

function openForRequests(file: string): ReadStore {
  const here = new SharesLookups(file);
  const thread = startedWhenNeeded("read-store", { file, niceness: SEARCH_NICENESS });
  const remote = remoteMethods<ReadStore, (typeof OFF_THREAD)[number]>(thread, "readStore", OFF_THREAD);
  return {
    ...remote,
    // Called once at the start, so it is no reason to start the thread.
    ensure: (specs) => here.ensure(specs),
    readsAtATime: here.readsAtATime,
    // Only folds write batches, and they open a store of their own.
    writeBatch: () => here.writeBatch(),
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

function startedWhenNeeded(name: string, data: ReadStoreThreadData): ThreadClient {
  return threadClient({
    file: new URL("./thread.ts", import.meta.url),
    name,
    data,
    toError: storeError,
    idleMs: IDLE_MS,
  });
}

/** By equality alone, which an index answers; sorted, ranged and text searches may scan many documents. */
function isLookup({ sort, range, contains, limit }: FindQuery): boolean {
  return !sort && !range && !contains && limit <= MAX_DIRECT;
}
