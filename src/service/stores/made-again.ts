// Files of the data folder whose content comes back by itself: a damaged one is kept under another name at the start, and made again.
import { statSync } from "node:fs";
import { basename, join } from "node:path";
import { type Differences, keepDamaged } from "../../stores/connections/damaged-file.sqlite.ts";
import { alterations } from "../../stores/connections/structure.sqlite.ts";
import { COUNTS_SCHEMA } from "../../stores/counts/counts.sqlite.ts";
import { openSqliteEventStore } from "../../stores/event-store/sqlite/event-store.ts";
import { foreignTables } from "../../stores/read-store/synchronous-read-store.sqlite.ts";

const FILES: Readonly<Record<string, { differences: Differences; again: string }>> = {
  "limits.db": { differences: (db) => alterations(db, COUNTS_SCHEMA), again: "limits count anew" },
  "read.db": {
    differences: (db) => [...alterations(db), ...foreignTables(db)],
    again: "the documents are folded again from the log",
  },
};

/**
 * To be called by who has locked the folder, before anybody opens them.
 * @throws file_altered, StoreFailed: nothing is changed beside a log that this program can't read
 */
export async function keepDamagedFiles(dataDir: string, log: (message: string) => void): Promise<void> {
  const events = join(dataDir, "events.db");
  // Without a byte it is a log that was never begun, or was lost: what is beside it tells.
  if ((statSync(events, { throwIfNoEntry: false })?.size ?? 0) > 0)
    await (await openSqliteEventStore(events, { readOnly: true })).close();
  for (const [name, { differences, again }] of Object.entries(FILES)) {
    const damaged = keepDamaged(join(dataDir, name), differences);
    if (damaged)
      log(
        `${name} can't be used (${damaged.damage}): it is kept as ${basename(damaged.aside)}, and ${again}`,
      );
  }
}
