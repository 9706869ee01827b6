// The thread that searches and writes read.db for another one; started by read-store.ts.
import { parentPort, workerData } from "node:worker_threads";
import { lowerThreadPriority } from "../../../runtime/threads/in-thread.ts";
import { serveThread } from "../../../runtime/threads/serve-thread.ts";
import { type Checkpoint, CheckpointMoved, type WriteBatch } from "../port.ts";
import { SqliteReadStore } from "./synchronous-read-store.ts";

/** Below the priority of redirects: searches may take longer. */
const NICENESS = 5;

/** A CheckpointMoved as a value, as an error loses its fields on the way to another thread. */
export type WriteOutcome = { moved?: { stored: Checkpoint | undefined } };

class ServedReadStore extends SqliteReadStore {
  async writeOutcome(batch: WriteBatch): Promise<WriteOutcome> {
    try {
      await this.write(batch);
      return {};
    } catch (error) {
      if (error instanceof CheckpointMoved) return { moved: { stored: error.stored } };
      throw error;
    }
  }
}

if (parentPort) {
  lowerThreadPriority(NICENESS);
  const readStore = new ServedReadStore((workerData as { file: string }).file);
  serveThread(parentPort, { readStore }, () => readStore.close());
}
