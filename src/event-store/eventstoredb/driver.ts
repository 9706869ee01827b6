// What the adapter needs of a server: appends, reads and subscriptions, over the channel of one of the two client libraries.
import type { ExpectedRevision, RecordedEvent } from "../port.ts";
import type { LogPosition } from "./positions.ts";

/** An event as it goes to the server (protocol/append-messages.ts). */
export type Proposed = { id: string; message: Uint8Array };

export type Append = {
  stream: string;
  expected: ExpectedRevision;
  events: readonly Proposed[];
  /** Sent to the server as the call's deadline. */
  timeoutMs: number;
};

/** `position` is undefined when the server recognised events that it has already and doesn't say where they are. */
export type Appended = { revision: number; position: LogPosition | undefined };

/** `from` is inclusive; without it the read starts at the stream's start, or at its end when it goes backwards. */
export type StreamRead = { stream: string; from: number | undefined; backwards: boolean; limit: number };

/** Forwards from `from`, inclusive, the events of streams with one of the prefixes. */
export type PrefixRead = { from: LogPosition | undefined; prefixes: readonly string[]; limit: number };

/** `after` is exclusive, but not on all servers. `buffer`: most events that wait here for the consumer. */
export type LogSubscription = {
  after: LogPosition | undefined;
  prefixes: readonly string[];
  buffer: number;
};

/** Events that are taken one at a time, in order. */
export type EventPull = {
  /** When the last sign of life came, as `performance.now` counts. */
  readonly lastArrival: number;
  /**
   * The next event; undefined after a clean end or an abort.
   * @throws NoAnswer when nothing arrived for `idleMs`; what the call failed with
   */
  next(idleMs: number, what: string, signal?: AbortSignal): Promise<RecordedEvent | undefined>;
  /** What has arrived already, without waiting; undefined when there is nothing. */
  buffered(): RecordedEvent | undefined;
  /** Ends the call, on the server too. */
  cancel(): void;
};

/**
 * Errors are the client's own, told apart by `type` (see errors.ts), and those of errors.ts. No call has a time limit
 * that can be relied on: the adapter sets its own.
 */
export interface Driver {
  /** The client library and its version. */
  readonly client: string;
  /** @throws WrongRevision when the stream is not at the expected revision */
  append(append: Append): Promise<Appended>;
  readStream(read: StreamRead): EventPull;
  /** All events of the streams that the server selects by prefix, or `"last"`: only the last event of the log. */
  readAll(read: PrefixRead | "last"): EventPull;
  subscribeAll(subscription: LogSubscription): EventPull;
  /** Connects when nothing has before. */
  serverVersion(): Promise<string>;
  /** Ends calls in flight and closes connections. */
  close(): Promise<void>;
}
