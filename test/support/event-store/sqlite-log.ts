// The embedded log of a folder, appended to in the caller's thread or in the writer thread.
import { join } from "node:path";
import type { EventStore } from "../../../src/stores/event-store/port.ts";
import { openSqliteEventStore, remoteAppends } from "../../../src/stores/event-store/sqlite/event-store.ts";
import { inThreads } from "../service/store-threads.ts";

export async function openSqliteLog(
  folder: string,
  inCallersThread: boolean,
  options: { clock?: () => Date } = {},
): Promise<EventStore> {
  const file = join(folder, "events.db");
  return inCallersThread
    ? openSqliteEventStore(file, options)
    : inThreads(folder, ({ writer }) =>
        openSqliteEventStore(file, { ...options, appends: remoteAppends(writer) }),
      );
}
