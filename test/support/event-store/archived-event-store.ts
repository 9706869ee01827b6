// A SQLite event store whose events are moved to archive files behind the back of whoever appends them.
import { join } from "node:path";
import type { ArchiveProgress, LogArchive } from "../../../src/event-store/log-archive.ts";
import type { EventStore } from "../../../src/event-store/port.ts";
import { openLogArchive } from "../../../src/event-store/sqlite/archive/log-archive.ts";
import { storeWith } from "../runtime/store-with.ts";

export const EVER = new Date("9999-01-01T00:00:00.000Z");

/** `folder`: of events.db. Its clock is that of the process, and it never rests. */
export function archiveIn(folder: string, category = "clicks"): LogArchive {
  const sleep = async () => undefined;
  return openLogArchive(join(folder, "events.db"), { sleep, clock: () => new Date(), category });
}

/** Moves all that was recorded before a time. Returns the number of events. */
export async function archiveBefore(
  archive: LogArchive,
  before: Date,
  onProgress?: (progress: ArchiveProgress) => void,
): Promise<number> {
  const files = [];
  for (const day of archive.days(before))
    files.push(await archive.archive(day, { from: 0, to: 0 }, onProgress));
  return files.reduce((sum, { events }) => sum + events, 0);
}

/** After each append all compressed events lie in archive files. */
export function archivedEventStore(store: EventStore, archive: LogArchive): EventStore {
  let archiving = Promise.resolve(0);
  return storeWith(store, {
    append: async (...request) => {
      const result = await store.append(...request);
      archiving = archiving.then(() => archiveBefore(archive, EVER));
      await archiving;
      return result;
    },
  });
}
