// Reads the log for the event feed, exports and ranges in a worker thread: events are parsed and filtered
// there, and only the results cross to the HTTP thread, one part at a time with backpressure.
import type { VerifyInThread } from "../audit/verification-runs.ts";
import type { FindMatching } from "../click-log/matching-clicks.ts";
import type { Config } from "../config.ts";
import { storeError } from "../connections/errors.ts";
import type { Position } from "../event-store/port.ts";
import type { EventType } from "../events/catalogue.ts";
import { EventNewer } from "../events/read-event.ts";
import type { ClickFormat } from "../export/click-lines.ts";
import type { LogParts } from "../queries/analytics/day-parts.ts";
import type { ClickSearch, FoundClicks } from "../queries/audit/find-clicks.ts";
import type { FeedRequest } from "../queries/feed/account-events.ts";
import type { FeedForm } from "../queries/feed/feed-event.ts";
import type { ErrorFields } from "../runtime/error-fields.ts";
import type { Logger } from "../runtime/logging.ts";
import { Refused } from "../runtime/refused.ts";
import { remoteMethods, remoteStreams, threadClient } from "../runtime/threads/thread-client.ts";

/** The thread starts on first use and stops after this long without use. */
const IDLE_MS = 60_000;

/** `events`: of the form that was asked for, as JSON; otherwise as FeedPage. */
export type FeedText = { events: string[]; next: Position; more: boolean };

/** `events`: each as JSON, with its position; otherwise as LiveEventBatch. */
export type FeedBatch = { events: { position: Position; json: string }[]; position: Position };

/**
 * Each generator ends when its signal aborts. All methods throw StoreUnavailable, EventNewer at an event of a newer program, or
 * invalid_position where the store refuses the caller's.
 */
export type LogReader = LogParts & {
  /** accountFeed, in the thread. */
  feed(accountId: string, request: FeedRequest, form: FeedForm): Promise<FeedText>;
  /**
   * LiveEvents.follow for the account's events of the types; all types when there are none. Without `after` it begins
   * with AccountOpened.
   */
  followAccount(
    accountId: string,
    after: Position | undefined,
    types: readonly EventType[],
    form: FeedForm,
    signal: AbortSignal,
  ): AsyncGenerator<FeedBatch>;
  /** Parts of the file, each of one or more lines. `after`: position of the link's LinkCreated. */
  exportClicks(
    link: string,
    after: Position,
    format: ClickFormat,
    signal: AbortSignal,
  ): AsyncGenerator<string>;
  /** The account's events as JSON Lines. */
  exportAccount(accountId: string, signal: AbortSignal): AsyncGenerator<string>;
  /** matchingClicks, in the thread. */
  matchingClicks: FindMatching;
  /** findClicks, in the thread. */
  findClicks(search: ClickSearch): Promise<FoundClicks>;
  /** verifySealedLog, in the thread. */
  verifyLog: VerifyInThread;
};

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
