// Everything in the portal that reads the log of clicks, in a thread of its own: each click read is parsed there, and only
// what was asked for crosses to the HTTP thread, one part at a time as it is taken.
import type { Config } from "../../config.ts";
import { type Position, StoreUnavailable } from "../../event-store/port.ts";
import type { LiveClicks } from "../../queries/analytics/live-clicks.ts";
import type { Logger } from "../../runtime/logging.ts";
import { threadClient } from "../../runtime/threads/thread-client.ts";
import type { ClickFormat } from "./click-lines.ts";

/** The thread is started when it is needed and ends when it was not used for so long. */
const IDLE_MS = 60_000;

/** Every stream ends when its signal aborts; @throws StoreUnavailable */
export type LogReader = {
  followLink: LiveClicks["follow"];
  /** The lines of a file, some to many in a part. `after`: where the link was made. */
  exportClicks(
    link: string,
    after: Position,
    format: ClickFormat,
    signal: AbortSignal,
  ): AsyncGenerator<string>;
  /** Events of the account as lines of JSON. */
  exportAccount(accountId: string, signal: AbortSignal): AsyncGenerator<string>;
};

export type LogReaderThreadData = { config: Config };

export function openLogReader(config: Config, log: Logger): LogReader & { close(): Promise<void> } {
  const data: LogReaderThreadData = { config };
  const thread = threadClient({
    file: new URL("./log-reader-thread.ts", import.meta.url),
    name: "log-reader",
    data,
    toError: (message, cause) => new StoreUnavailable(message, { cause }),
    log,
    idleMs: IDLE_MS,
  });
  const stream = (method: keyof LogReader, args: readonly unknown[], signal: AbortSignal) =>
    thread.stream("logReader", method, args, signal);
  return {
    followLink: (link, after, signal) =>
      stream("followLink", [link, after], signal) as ReturnType<LogReader["followLink"]>,
    exportClicks: (link, after, format, signal) =>
      stream("exportClicks", [link, after, format], signal) as AsyncGenerator<string>,
    exportAccount: (accountId, signal) =>
      stream("exportAccount", [accountId], signal) as AsyncGenerator<string>,
    close: thread.close,
  };
}
