// Starts the writer thread and calls it; one that has died is started again by the next call.
import { randomBytes } from "node:crypto";
import type { Config } from "../../config/config.ts";
import type { ClickWriter } from "../../redirect/clicks/write-clicks.ts";
import type { CountryOf } from "../../redirect/rules/country-of.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { remoteMethods, threadClient } from "../../runtime/threads/thread-client.ts";
import { storeError } from "../../stores/connections/errors.ts";
import type { WriterThreadData } from "./writer-thread.ts";

export type Writer = ClickWriter & { countryOf: CountryOf; close(): Promise<void> };

export function startWriter(config: Config, log: BasicLogger): Writer {
  const data: WriterThreadData = { config, writer: randomBytes(8).toString("hex") };
  const thread = threadClient({
    file: new URL("./writer-thread.ts", import.meta.url),
    name: "writer",
    data,
    toError: storeError,
    log,
  });
  // Now, as clicks that an ended process has left may wait.
  thread.start().catch(() => undefined);
  return {
    ...remoteMethods<ClickWriter, "write" | "journalStatus">(thread, "clicks", ["write", "journalStatus"]),
    ...remoteMethods<{ countryOf: CountryOf }, "countryOf">(thread, "geo", ["countryOf"]),
    close: thread.close,
  };
}
