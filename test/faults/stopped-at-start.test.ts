// SIGTERM while the service starts: it redirects before the rest of the program is loaded, and these clicks count too.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { expect, it } from "vitest";
import { CATEGORY } from "../../src/events/streams.ts";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import { send } from "../support/service/ask.ts";
import { childEnvironment } from "../support/service/child-environment.ts";
import { endWithThisProcess } from "../support/service/end-with-this-process.ts";
import { accountWithKeys, instanceOf, startService } from "../support/service/service-process.ts";

const ways = [
  { of: "one process", more: [] },
  { of: "two workers", more: ["--workers", "2"] },
];

it.each(ways.slice(0, effort(1, 2)))(
  "commits the click of its first redirect when SIGTERM comes during the start of $of",
  async ({ more }) => {
    const folder = await temporaryFolder();
    // The rest of the start is part of the stop, and takes longer than its default on a busy machine.
    const instance = await instanceOf(folder.path, { STOP_SECONDS: "60" });
    const { keys } = await accountWithKeys(instance, "free", 1);
    const before = await startService(instance);
    const port = Number(instance.PORT);
    const slug = await before.shorten(keys[0]);
    await before.stop();
    const child = spawn(
      process.execPath,
      ["--import=./src/runtime/compile-cache.js", "src/cli.ts", "serve", ...more],
      {
        ...{ env: childEnvironment(instance), stdio: "ignore" },
      },
    );
    endWithThisProcess(child);
    const ended = once(child, "exit");
    const isRedirected = () =>
      send(port, `/${slug}`, {}).then(
        ({ status }) => status === 301,
        () => false,
      );
    await until("the first redirect", isRedirected, { everyMs: 1 });
    child.kill("SIGTERM");
    expect(await ended).toEqual([0, null]);
    const store = await openSqliteEventStore(`${folder.path}/events.db`);
    expect(await loggedEvents(store, { categories: [CATEGORY.clicks], limit: 10 })).toHaveLength(1);
    await store.close();
    await folder.remove();
  },
  240_000,
);
