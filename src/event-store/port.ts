// Port of the event store, which every adapter implements; contract: test/contract/event-store.ts.
import { DomainError } from "../runtime/errors.ts";

/** An event to append: data and metadata are plain JSON (no Date, bigint or undefined). */
export type NewEvent = { id: string; type: string; data: unknown; metadata: EventMetadata };

export type Actor =
  | { type: "key"; id: string }
  | { type: "account"; id: string }
  | { type: "operator" }
  | { type: "system"; id: string };

/** `correlationId`: the request id; `causationId`: the id of the event or request that caused this event. */
export type EventMetadata = {
  schemaVersion: number;
  correlationId: string;
  causationId: string;
  actor: Actor;
};

/**
 * Events of one append in columns, for large numbers of alike events that come from one writer, such as clicks. Nothing
 * here is an object of one event: what repeats is there once. It is plain JSON, so that a store or a spool can keep it
 * as it is; `eventsOf` (event-columns.ts) makes the same `NewEvent`s of it that `append` would take instead.
 *
 * Event n has the id that `numberedIds(writer)` makes of its time and number, and it is its own cause: `correlationId`
 * and `causationId` are that id. Its data has `members`, in this order: `timeMember` is the event's time in ISO 8601,
 * the others are found in one group each.
 */
export type EventColumns = {
  type: string;
  schemaVersion: number;
  actor: Actor;
  /** Ten lower-case hex digits at least. */
  writer: string;
  /** Milliseconds since 1970: the first event's, then for each event the difference to the one before. */
  times: number[];
  /** Sequence numbers of the events among all of the writer, encoded like `times`. */
  numbers: number[];
  members: readonly string[];
  timeMember: string;
  groups: ColumnGroup[];
};

/**
 * Members whose values belong together, such as a link's slug and URLs. `values`: for each member the values of all rows,
 * or the only one that they share. `each`: the row of each event; without it row n is that of event n, or all lists have
 * a single value.
 */
export type ColumnGroup = { members: readonly string[]; values: unknown[][]; each?: number[] };

/** What an append takes: events, or a batch in columns. */
export type NewEvents = readonly NewEvent[] | EventColumns;

/**
 * A stored event. `revision` counts from 0 in its stream; `position` orders the whole store. `unreadable`: why the adapter
 * could not parse it; then `data` is null, and `id` and `type` are what could be read, or empty.
 */
export type RecordedEvent = NewEvent & {
  stream: string;
  revision: number;
  position: Position;
  /** When the store accepted it, ISO 8601 UTC. */
  recordedAt: string;
  unreadable?: string;
};

/** Opaque, zero-padded by the adapter so that it sorts as text. */
export type Position = string;

/** `any`: no check; `none`: the stream must not exist; a number: its last revision. */
export type ExpectedRevision = "any" | "none" | number;

export type AppendResult = { revision: number; position: Position };

export type ReadOptions = { from?: number; backwards?: boolean; limit?: number };

export type ReadAllOptions = {
  /** Exclusive; undefined reads from the start. */
  after?: Position | undefined;
  /** Inclusive, instead of `after`: the position of an event. */
  from?: Position | undefined;
  /** Stream name prefixes, such as `account-`, `clicks-`. */
  prefixes: readonly string[];
  limit: number;
  /**
   * Only events with this text value in their data are wanted: others may be left out, but for the last one of an answer,
   * after which the next read continues. A hint, with which SQLite reads much faster.
   */
  mentions?: string | undefined;
  /** As in SubscribeOptions. */
  changesOnly?: boolean | undefined;
};

export type SubscribeOptions = {
  after?: Position | undefined;
  prefixes: readonly string[];
  /**
   * The first event of each stream, which creates an entity, is not wanted and may be left out. A hint: SQLite leaves it
   * out, EventStoreDB doesn't.
   */
  changesOnly?: boolean | undefined;
  signal: AbortSignal;
  /** Most events in a batch; default 500. */
  batchSize?: number;
};

/** The client library and the server, such as `@kurrent/kurrentdb-client 1.3.1` and `26.0.3`. */
export type StoreVersions = { client: string; server: string };

export interface EventStore {
  /**
   * Appends all events or none. Idempotent: repeating the same ids at the same exact revision (or `none`) returns the
   * first result; if only some of the ids are stored, it is a conflict. At least one event.
   * @throws RevisionConflict when the stream is not at the expected revision
   */
  append(stream: string, expected: ExpectedRevision, events: NewEvents): Promise<AppendResult>;
  /** Events of one stream in order, or newest first; none for a missing stream. `from` is inclusive. */
  read(stream: string, options?: ReadOptions): Promise<RecordedEvent[]>;
  /** The next events, in position order, of all streams with one of the prefixes; fewer than `limit` at the end of the log. */
  readAll(options: ReadAllOptions): Promise<RecordedEvent[]>;
  /**
   * Catches up and then follows new events in position order until the signal aborts; never yields an empty batch.
   * Appends of other processes arrive within 250 ms. Pull-based: a slow consumer causes backpressure, not buffering.
   */
  subscribe(options: SubscribeOptions): AsyncIterable<RecordedEvent[]>;
  /** Position of the last event in the store; undefined when it is empty. */
  head(): Promise<Position | undefined>;
  /**
   * Position of the newest event of the streams with a prefix such as `link-`, whichever process appended it, without a
   * call to another thread or a server; the empty text when there is none. Absent where a store can't know it so;
   * undefined when it can't be said at the moment.
   */
  newestOf?(prefix: string): Promise<Position | undefined>;
  /** What is in use behind the port; absent on the embedded store, which has neither. @throws StoreUnavailable */
  versions?(): Promise<StoreVersions>;
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
