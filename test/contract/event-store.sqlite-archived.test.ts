// The event store contract on a SQLite log whose events lie in archive files as soon as they are appended.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openSqliteEventStore } from "../../src/event-store/sqlite/event-store.ts";
import { archivedEventStore, archiveIn } from "../support/event-store/archived-event-store.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { eventStoreContract } from "./event-store.ts";

const CHILD = fileURLToPath(new URL("./append-for-ever.sqlite.ts", import.meta.url));

eventStoreContract("SQLite with archived streams", async () => {
  const folder = await temporaryFolder();
  const file = join(folder.path, "events.db");
  const category = `t${randomBytes(4).toString("hex")}`;
  const open = () => openSqliteEventStore(file, { compressed: [category] });
  const store = await open();
  const archive = archiveIn(folder.path, category);
  return {
    store: archivedEventStore(store, archive),
    prefix: `${category}-`,
    openAnother: open,
    startAppending: (stream) =>
      spawn(process.execPath, [CHILD, file, stream, "false"], { stdio: ["ignore", "pipe", "inherit"] }),
    close: async () => {
      archive.close();
      await store.close();
      await folder.remove();
    },
  };
});
