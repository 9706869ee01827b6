// The port of the document store that projections write and queries read; contract: test/contract/read-store.ts.
import { DomainError } from "../../runtime/errors.ts";
import type { Position } from "../event-store/port.ts";

/** `_position` is the last event folded into the document. Field names: letters, digits, `_`; values: plain JSON. */
export type Document = { _id: string; _position: Position };

/** A collection and its indexes, each a list of fields; created at the start. An index ends with `_id` by itself. */
export type CollectionSpec = { name: string; indexes: readonly (readonly string[])[] };

export type Scalar = string | number | boolean | null;

export type FindQuery = {
  /** Equality on top-level fields. */
  where?: Readonly<Record<string, Scalar>>;
  /** Inclusive lower, exclusive upper bounds on one top-level text field. */
  range?: { field: string; from?: string | undefined; to?: string | undefined };
  /** One of these texts, by field. */
  in?: Readonly<Record<string, readonly string[]>>;
  /** None of these texts, by field; a document without the field fits. */
  notIn?: Readonly<Record<string, readonly string[]>>;
  /** Every one of the texts is a part of the field, in this case. */
  contains?: { field: string; texts: readonly string[] };
  /** An element of a top-level list of texts. */
  has?: { field: string; element: string };
  /** Sorted by this text or number field, then `_id`, both in this direction; default `_id` ascending. */
  sort?: { field: string; direction: "asc" | "desc" };
  /** Sort field and `_id` of the previous page's last document. */
  after?: { value: string | number; id: string };
  limit: number;
  /** Those that are wanted, none of them an object or a list of others than texts; with the field of the sort. */
  fields?: readonly string[];
};

/** What documents are counted by. */
export type CountQuery = Omit<FindQuery, "sort" | "after" | "limit" | "fields">;

/** `limit`: of elements. No document has one twice. */
export type ElementQuery = { field: string; limit: number };
export type ElementCount = { element: string; documents: number };

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
  find<D extends Document>(collection: string, query: FindQuery): Promise<D[]>;
  count(collection: string, query: CountQuery): Promise<number>;
  /**
   * The elements of a top-level list of texts, with how many documents that match have each: most first, then by the text.
   */
  countElements(collection: string, query: CountQuery & ElementQuery): Promise<ElementCount[]>;
  /**
   * One commit. Each document replaces the stored one where that is missing or has a lower `_position`; others stay as
   * they are, so that a repeated or late commit changes nothing. The same position means the same document: one that is
   * corrected, as by a withdrawal, gets the position of an event after all that the stored one has folded.
   *
   * The checkpoint is written last, and only if the stored one is still `from`; if it is not, nothing is written at all,
   * or on a server, where another holder moves it during this commit, documents that the holder writes too. Collections
   * are written in their order, so that after a crash a document of a later one implies those of earlier ones. SQLite
   * has one transaction. @throws CheckpointMoved, StoreUnavailable (whether it was written is unknown), StoreFailed
   */
  write(batch: WriteBatch): Promise<void>;
  checkpoint(name: string): Promise<Checkpoint | undefined>;
  checkpoints(): Promise<Record<string, Checkpoint>>;
  /**
   * How what is stored contradicts the checkpoint, as where documents were put back from a copy of several moments; undefined
   * where nothing is seen. Always undefined where a commit is one transaction. @throws StoreUnavailable
   */
  inconsistency(checkpoint: string): Promise<string | undefined>;
  /** Removes a collection with its documents and indexes, if it exists. It must no longer be in use. */
  drop(collection: string): Promise<void>;
  /** Removes a checkpoint, if it exists: its consumer begins with the first event. */
  dropCheckpoint(name: string): Promise<void>;
  close(): Promise<void>;
}

/**
 * `replaced`: for documents that change otherwise than by events, the `_position` that the stored one must have, by `_id`; ""
 * where none is stored. Another one was written by another holder: CheckpointMoved, as the checkpoint alone would say too late.
 * `removed`: after the documents are written, each that has still this `_position`.
 */
export type CollectionWrite = {
  collection: string;
  documents: readonly Document[];
  replaced?: ReadonlyMap<string, Position>;
  removed?: readonly { id: string; position: Position }[];
};

export type WriteBatch = {
  documents: readonly CollectionWrite[];
  /** `from`: the checkpoint that the documents continue from; undefined where none is stored. */
  checkpoint?: { name: string; from: Checkpoint | undefined; to: Checkpoint };
};

/**
 * The last event folded by a build, or passed by another consumer of the log: its position and its id, as another event at
 * that position is of another log. `waitsFor`: the event after it, of a newer program than the one that folds. `setAside`:
 * how many events up to the position could not be folded and were passed (set-aside.ts). `more`: what else the consumer goes
 * on from, plain JSON.
 */
export type Checkpoint = {
  position: Position;
  eventId: string;
  waitsFor?: AwaitedEvent;
  setAside?: number;
  more?: object;
};

export type AwaitedEvent = { position: Position; stream: string; revision: number; type: string };

/** Whether both are at the same event, or there is none. */
export function isSameCheckpoint(checkpoint: Checkpoint | undefined, other: Checkpoint | undefined): boolean {
  return checkpoint?.position === other?.position && checkpoint?.eventId === other?.eventId;
}

/** The checkpoint that a commit continues from is no longer the stored one. */
export class CheckpointMoved extends DomainError {
  override readonly code = "checkpoint_moved";
  /** Undefined: it is gone. One ahead belongs to another holder, one behind to documents that were put back. */
  readonly stored: Checkpoint | undefined;

  constructor(name: string, stored: Checkpoint | undefined) {
    super(`The checkpoint ${name} is ${stored ? `at ${stored.position}` : "gone"}`);
    this.stored = stored;
  }
}
