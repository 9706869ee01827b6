// Port of the event store, which every adapter implements; contract: test/contract/event-store.ts.
import { DomainError } from "../../runtime/errors.ts";

/**
 * An event to append: data and metadata are plain JSON (no Date, bigint or undefined), data is no text alone, and no name of
 * a member needs an escape in JSON (plain-json.ts).
 */
export type NewEvent = { id: string; type: string; data: unknown; metadata: EventMetadata };

export type Actor =
  | { type: "key"; id: string }
  | { type: "account"; id: string }
  | { type: "operator" }
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

/** Opaque, zero-padded by the adapter so that it sorts as text. */
export type Position = string;

/** `none`: the stream must not exist; a number: its last revision. */
export type ExpectedRevision = "none" | number;

export type AppendResult = { revision: number; position: Position };

export type ReadOptions = { from?: number; backwards?: boolean; limit?: number };

export type ReadAllOptions = {
  /** Exclusive; undefined reads from the start. */
  after?: Position | undefined;
  /** Inclusive, instead of `after`: the position of an event. */
  from?: Position | undefined;
  /** What the wanted streams' names begin with, up to the first `-`: such as `account`, `clicks`. */
  categories: readonly string[];
  limit: number;
};

/** `after` is exclusive. */
export type ReadStoredOptions = { after?: Position | undefined; limit: number };

export type SubscribeOptions = {
  after?: Position | undefined;
  categories: readonly string[];
  signal: AbortSignal;
  /** Most events in a batch; default 500. */
  batchSize?: number;
};

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
  /** The next events, in position order, of all streams of the categories; fewer than `limit` at the end of the log. */
  readAll(options: ReadAllOptions): Promise<RecordedEvent[]>;
  /**
   * Every event of the service in position order, without any filter, for seals and verification; fewer than `limit` at the
   * end of the log.
   */
  readStored(options: ReadStoredOptions): Promise<StoredText[]>;
  /**
   * What of the store's structure is not as our program makes it, a line each: a trigger or another schema, damage that the
   * store itself finds, streams that somebody deleted or cut. Reads the whole store, so not for a thread that serves.
   */
  structureProblems(): Promise<StructureProblem[]>;
  /**
   * Catches up and then follows new events in position order until the signal aborts; never yields an empty batch.
   * Appends of other processes arrive within 250 ms. Pull-based: a slow consumer causes backpressure, not buffering.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<RecordedEvent[]>;
  /** Position of the last event in the store; undefined when it is empty. */
  head(): Promise<Position | undefined>;
  /**
   * Position of the newest event of a category, whichever process appended it; the empty text when there is none, undefined
   * while it can't be read. Absent where it takes a call to a server.
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
