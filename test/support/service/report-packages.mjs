// Preloaded into a program and all its threads: appends a line to REPORT_PACKAGES_TO for each package that a thread loads.
import { appendFileSync } from "node:fs";
import { registerHooks } from "node:module";
import { threadId, threadName } from "node:worker_threads";

const PACKAGE = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)\//;
const loaded = new Set();

registerHooks({
  load(url, context, nextLoad) {
    const name = PACKAGE.exec(url)?.[1];
    if (name && !loaded.has(name)) {
      loaded.add(name);
      const thread = threadId === 0 ? "main" : threadName;
      appendFileSync(process.env.REPORT_PACKAGES_TO ?? "", `${thread} ${name}\n`);
    }
    return nextLoad(url, context);
  },
});
