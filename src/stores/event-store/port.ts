// Port of the event store, which every adapter implements; contract: test/contract/event-store.ts.
import { DomainError } from "../../runtime/errors.ts";

/**
 * An event to append: data and metadata are plain JSON (no Date, bigint or undefined), data is no text alone, and no name of
 * a member needs an escape in JSON (plain-json.ts).
 */
export type NewEvent = { id: string; type: string; data: unknown; metadata: EventMetadata };

/** `id` of an operator: the person, where one signed in as such. */
export type Actor =
  | { type: "key"; id: string }
  | { type: "person"; id: string }
  | { type: "operator"; id?: string }
  | { type: "system"; id: string };

/**
 * `correlationId`: the request id; `causationId`: the id of the event or request that caused this event. Both are absent
 * where they are the event's own id, and `actor` where it is the same for all events of the type, as for clicks.
 */
export type EventMetadata = {
  schemaVersion: number;
  correlationId?: string;
  causationId?: string;
  actor?: Actor;
};

/**
 * A stored event. `revision` counts from 0 in its stream; `position` orders the whole store. `unreadable`: why the store
 * could not parse it; then `data` is null, and `id` and `type` are what could be read of them, or empty.
 */
export type RecordedEvent = NewEvent & {
  stream: string;
  revision: number;
  position: Position;
  /** When the store accepted it, ISO 8601 UTC. */
  recordedAt: string;
  unreadable?: string;
};

/**
 * An event as texts: what a seal signs and a verification compares. `data` and `metadata` are the JSON that `append` wrote;
 * where that can't be said they are what could be read of it, or empty, and `unreadable` says why.
 */
export type StoredText = {
  id: string;
  stream: string;
  revision: number;
  position: Position;
  type: string;
  recordedAt: string;
  data: string;
  metadata: string;
  unreadable?: string;
};

/** `stream`: whose events it concerns, where it is not the whole log. */
export type StructureProblem = { what: string; stream?: string };

/** Opaque, zero-padded by the adapter so that it sorts as text: of an event, or START. Never empty. */
export type Position = string;

/** Before the first event; sorts before every other position. */
export const START: Position = "-";

/** `none`: the stream must not exist; a number: its last revision. */
export type ExpectedRevision = "none" | number;

export type AppendResult = { revision: number; position: Position };

export type ReadOptions = { from?: number; backwards?: boolean; limit?: number };

/** What the wanted streams' names begin with, up to the first `-`: such as `account`, `clicks`. */
type OfCategories = { categories: readonly string[] };

/** `after`: exclusive. `from`: inclusive, the position of an event. */
export type ReadAllOptions = OfCategories & { limit: number } & (
    | { after: Position; from?: undefined }
    | { from: Position; after?: undefined }
  );

/** `after` is exclusive. */
export type ReadStoredOptions = OfCategories & { after: Position; limit: number };

/** `batchSize`: most events in a page; default 500. `after` is exclusive. */
export type SubscribeOptions = OfCategories & { after: Position; signal: AbortSignal; batchSize?: number };

/**
 * `next`: up to where the log was looked through, also where nothing was found: whoever asks again goes on after it. It is
 * that of the last event where the limit was reached.
 */
export type LogPage<E = RecordedEvent> = { events: E[]; next: Position };

/** `texts`: the same events as `readStored` gives them, made of what was read once somebody asks; the events unchanged. */
export type PageAsRead = LogPage & { texts(): StoredText[] };

export interface EventStore {
  /**
   * Appends all events or none; a server's limit of bytes or events an append may cut a larger one, then a failure leaves
   * its first events, and the same append again completes it (see the adapter). Idempotent at an exact revision or `none`:
   * repeating the same ids returns the first result; with only some of them there it is a conflict. At least one event.
   * @throws RevisionConflict when the stream is not at the expected revision; StreamRemoved when somebody deleted it
   */
  append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]): Promise<AppendResult>;
  /**
   * Events of one stream in order, or newest first; none for a missing stream. `from` is inclusive.
   * @throws StreamRemoved when somebody deleted the stream, or cut events off its start that are asked for
   */
  read(stream: string, options?: ReadOptions): Promise<RecordedEvent[]>;
  /**
   * The next events, in position order, of all streams of the categories; fewer than `limit` at the end of the log.
   * @throws invalid_position for one that has not the form of this store's
   */
  readAll(options: ReadAllOptions): Promise<LogPage>;
  /** The same as texts, for seals and verification: whatever the store keeps of them besides decides nothing. */
  readStored(options: ReadStoredOptions): Promise<LogPage<StoredText>>;
  /** The id of the event at the position, of whichever stream and program; undefined when there is none. */
  idAt(position: Position): Promise<string | undefined>;
  /**
   * What of the store's structure is not as our program makes it, a line each: a trigger or another schema, damage that the
   * store itself finds, streams of the categories that somebody deleted or cut. Reads the whole store, so not for a thread
   * that serves.
   */
  structureProblems(categories: readonly string[]): Promise<StructureProblem[]>;
  /**
   * Catches up and then follows new events in position order until the signal aborts. A page without events says that the
   * log was looked through up to there. Appends of other processes arrive within 250 ms. Pull-based: a slow consumer causes
   * backpressure, not buffering.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<LogPage>;
  /** The same, for who needs events and their texts (shared-log.ts). */
  subscribeAsRead(options: SubscribeOptions): AsyncIterable<PageAsRead>;
  /** Position of the last event in the store, of whichever program; START when it is empty. */
  head(): Promise<Position>;
  /**
   * Position of the newest event of a category, whichever process appended it; START when there is none, undefined while it
   * can't be read. Absent where it takes a call to a server.
   */
  newestOf?(category: string): Promise<Position | undefined>;
  close(): Promise<void>;
}

/** The stream is not at the expected revision; `actual` is its last revision, or `none`. */
export class RevisionConflict extends DomainError {
  override readonly code = "revision_conflict";
  readonly stream: string;
  readonly expected: ExpectedRevision;
  readonly actual: number | "none";
  constructor(stream: string, expected: ExpectedRevision, actual: number | "none") {
    super(`Stream ${stream} is at revision ${actual}, expected ${expected}`);
    this.stream = stream;
    this.expected = expected;
    this.actual = actual;
  }
}

/** Events of the stream were deleted or cut in the store, which this program never does: only an operator can mend it. */
export class StreamRemoved extends DomainError {
  override readonly code = "stream_removed";
  readonly what: string;
  /** `what`: happened to it, as structureProblems says it. */
  constructor(stream: string, what: string) {
    super(`Stream ${stream}: ${what}`);
    this.what = what;
  }
}
