// Preloaded into a program and all its threads: appends a line to REPORT_CLIENTS_TO for each event store client that a
// thread loads.
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { threadId } from "node:worker_threads";

const CLIENTS = /\/node_modules\/(@eventstore\/db-client|@kurrent\/kurrentdb-client)\//;
const loaded = new Set();

registerHooks({
  load(url, context, nextLoad) {
    const client = CLIENTS.exec(url)?.[1];
    if (client && !loaded.has(client)) {
      loaded.add(client);
      appendFileSync(process.env.REPORT_CLIENTS_TO ?? "", `${process.pid}/${threadId} ${client}\n`);
    }
    return nextLoad(url, context);
  },
});
