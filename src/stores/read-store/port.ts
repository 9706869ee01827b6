// The port of the document store that projections write and queries read; contract: test/contract/read-store.ts.
import type { Position } from "../event-store/port.ts";

/** `_position` is the last event folded into the document. Field names: letters, digits, `_`; values: plain JSON. */
export type Document = { _id: string; _position: Position };

/**
 * A collection and its indexes, each a list of fields; created at the start. `partialIndexes`: for queries in which the
 * last field has a value, a bound or an element; SQLite leaves the documents out of them where it is null.
 * `columns`: scalar fields that SQLite keeps in columns of their own, so that an index on them costs nothing while
 * they stay the same, and a sort reads no JSON.
 */
export type CollectionSpec = {
  name: string;
  indexes: readonly (readonly string[])[];
  partialIndexes?: readonly (readonly string[])[];
  columns?: readonly string[];
};

export type Scalar = string | number | boolean | null;

export type FindQuery = {
  /** Equality on top-level fields. */
  where?: Readonly<Record<string, Scalar>>;
  /** Inclusive lower, exclusive upper bounds on one top-level text field. */
  range?: { field: string; from?: string | undefined; to?: string | undefined };
  /** Case-insensitive substring in any of the fields. */
  contains?: { fields: readonly string[]; text: string };
  /** An element of a top-level list of texts. */
  has?: { field: string; element: string };
  /** Sorted by this text or number field, then `_id`, both in this direction; default `_id` ascending. */
  sort?: { field: string; direction: "asc" | "desc" };
  /** Sort field and `_id` of the previous page's last document. */
  after?: { value: string | number; id: string };
  /** How many documents are passed over first; default none. */
  skip?: number;
  limit: number;
};

/** What documents are counted by. */
export type CountQuery = Pick<FindQuery, "where" | "range" | "contains" | "has">;

export interface ReadStore {
  /** Creates missing collections and indexes; idempotent, also from several processes. */
  ensure(specs: readonly CollectionSpec[]): Promise<void>;
  get<D extends Document>(collection: string, id: string): Promise<D | undefined>;
  /** The documents that exist, in any order. `fields`: those that are wanted, so that a store may leave others out. */
  getMany<D extends Document>(
    collection: string,
    ids: readonly string[],
    fields?: readonly string[],
  ): Promise<D[]>;
  /**
   * A document, and whether the documents hold every event up to the position: then one that is missing was never made.
   * Only the read store of queries has it, as it knows the build that both are of.
   */
  getUpTo?<D extends Document>(collection: string, id: string, position: Position): Promise<Reached<D>>;
  find<D extends Document>(collection: string, query: FindQuery): Promise<D[]>;
  count(collection: string, query: CountQuery): Promise<number>;
  /** Upserts each document whose stored `_position` is missing or lower; the others stay as they are. */
  replace(collection: string, documents: readonly Document[]): Promise<void>;
  writeBatch(): WriteBatch;
  /**
   * How many documents a fold reads at a time: few where a read is cheap, so that they are garbage before the next ones are
   * read; many where each read is a round trip.
   */
  readonly readsAtATime: number;
  /** Removes a collection with its documents and indexes, if it exists. It must no longer be in use. */
  drop(collection: string): Promise<void>;
  checkpoint(projection: string): Promise<Checkpoint | undefined>;
  checkpoints(): Promise<Record<string, Checkpoint>>;
  /** Moves the checkpoint forward; a lower position than the stored one is ignored. */
  saveCheckpoint(projection: string, checkpoint: Checkpoint): Promise<void>;
  /** Removes a projection's checkpoint, so that it folds the log from the beginning. */
  resetCheckpoint(projection: string): Promise<void>;
  close(): Promise<void>;
}

export type Reached<D> = { document: D | undefined; isComplete: boolean };

/** Documents that are written together. SQLite keeps their JSON alone, so that the objects need not outlive their fold. */
export interface WriteBatch {
  /** Documents so far. */
  readonly size: number;
  add(collection: string, documents: readonly Document[]): void;
  /**
   * At most once: as `replace` for each collection, in the order in which they were first added, then as `saveCheckpoint`
   * for each: a stored checkpoint is never ahead of the documents. One transaction on SQLite.
   */
  write(how: BatchWrite): Promise<void>;
}

/**
 * `checkpoints`: by projection. `isMeanwhile`: the caller goes on before it is written, so a store may write it in another
 * thread.
 */
export type BatchWrite = { checkpoints: Readonly<Record<string, Checkpoint>>; isMeanwhile?: boolean };

/**
 * The last position folded by a projection, or passed by another consumer of the log. `waitsFor`: the event after it, of a
 * newer program than the one that folds. `setAside`: how many events up to the position could not be folded and were passed
 * (coordination/set-aside.ts).
 */
export type Checkpoint = { position: Position; waitsFor?: AwaitedEvent; setAside?: number };

export type AwaitedEvent = { position: Position; stream: string; revision: number; type: string };
