// The appending process that event-store.sqlite.test.ts kills; arguments: FOLDER STREAM IN_CALLERS_THREAD.

import { appendForEver } from "../support/event-store/append-for-ever.ts";
import { openSqliteLog } from "../support/event-store/sqlite-log.ts";

const [folder = "", stream = "", inCallersThread] = process.argv.slice(2);
await appendForEver(await openSqliteLog(folder, inCallersThread === "true"), stream);
