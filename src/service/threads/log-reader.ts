// Starts the log reader's thread, on first use, and calls it.
import type { Config } from "../../config/config.ts";
import { EventNewer } from "../../events/read-event.ts";
import type { LogReader } from "../../queries/log-reader/log-reader.ts";
import type { ErrorFields } from "../../runtime/error-fields.ts";
import type { Logger } from "../../runtime/logging.ts";
import { Refused } from "../../runtime/refused.ts";
import { remoteMethods, remoteStreams, threadClient } from "../../runtime/threads/thread-client.ts";
import { storeError } from "../../stores/connections/errors.ts";

/** The thread stops after this long without use. */
const IDLE_MS = 60_000;

/** A position that the store refuses is the caller's mistake, which trying again never mends. */
function toError(message: string, cause?: unknown): Error {
  const { code } = (cause ?? {}) as Partial<ErrorFields>;
  if (code === "invalid_position") return new Refused("invalid_position", undefined, { cause });
  return code === "event_newer" ? new EventNewer(message, { cause }) : storeError(message, cause);
}

const METHODS = ["feed", "matchingClicks", "findClicks", "dayParts", "lastClickRecordedBy"] as const;
const STREAMS = ["followAccount", "exportClicks", "exportAccount", "verifyLog"] as const;

export type LogReaderThreadData = { config: Config };

export function openLogReader(config: Config, log: Logger): LogReader & { close(): Promise<void> } {
  const data: LogReaderThreadData = { config };
  const thread = threadClient({
    file: new URL("./log-reader-thread.ts", import.meta.url),
    name: "log-reader",
    data,
    toError,
    log,
    idleMs: IDLE_MS,
  });
  return {
    ...remoteMethods<LogReader, (typeof METHODS)[number]>(thread, "logReader", METHODS),
    ...remoteStreams<LogReader, (typeof STREAMS)[number]>(thread, "logReader", STREAMS),
    close: thread.close,
  };
}
