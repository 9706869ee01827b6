// The writer thread as others see it: what is flushed to disk for a request or a click, and the geo database.
import { randomBytes } from "node:crypto";
import type { Config } from "../../config/config.ts";
import type { ClickWriter } from "../../redirect/clicks/append-clicks.ts";
import type { CountryOf } from "../../redirect/rules/country-of.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { remoteMethods } from "../../runtime/threads/remote.ts";
import { type Thread, threadOf } from "../../runtime/threads/thread.ts";
import { storeError } from "../../stores/connections/errors.ts";
import type { WriterData } from "./writer-thread.ts";

export function writerThread(config: Config, log: BasicLogger): Thread {
  const data: WriterData = { config, writer: randomBytes(8).toString("hex") };
  const file = new URL("./writer-thread.ts", import.meta.url);
  return threadOf({ file, name: "writer", data, toError: storeError, log });
}

export function clickWriterIn(writer: Thread): ClickWriter {
  const methods = ["write", "appendGap", "status", "close"] as const;
  return remoteMethods<ClickWriter, (typeof methods)[number]>(writer, "clicks", methods);
}

export function countryOfIn(writer: Thread): CountryOf {
  return remoteMethods<{ countryOf: CountryOf }, "countryOf">(writer, "geo", ["countryOf"]).countryOf;
}
