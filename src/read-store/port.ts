// Where projections keep their documents and queries find them; contract: test/contract/read-store.ts.
import type { Position } from "../event-store/port.ts";

/** `_position` is the last event folded into the document. Field names: letters, digits, `_`; values: plain JSON. */
export type Document = { _id: string; _position: Position };

/** A collection and the fields (or field lists) that queries look it up by; made at start, before first use. */
export type CollectionSpec = { name: string; indexes: readonly (readonly string[])[] };

export type Scalar = string | number | boolean | null;

export type FindQuery = {
  /** Equality on top-level fields. */
  where?: Readonly<Record<string, Scalar>>;
  /** Inclusive lower, exclusive upper bounds on one top-level text field. */
  range?: { field: string; from?: string | undefined; to?: string | undefined };
  /** Case-insensitive substring in any of the fields. */
  contains?: { fields: readonly string[]; text: string };
  /** Sorted by this text or number field, then `_id`, both in this direction; default `_id` ascending. */
  sort?: { field: string; direction: "asc" | "desc" };
  /** The (sort field, _id) of the last document of the page before. */
  after?: { value: string | number; id: string };
  limit: number;
};

export interface ReadStore {
  /** Creates collections and indexes that are missing; safe to repeat and from several processes. */
  ensure(specs: readonly CollectionSpec[]): Promise<void>;
  get<D extends Document>(collection: string, id: string): Promise<D | undefined>;
  /** Found documents only, in no promised order. */
  getMany<D extends Document>(collection: string, ids: readonly string[]): Promise<D[]>;
  find<D extends Document>(collection: string, query: FindQuery): Promise<D[]>;
  count(collection: string, query: Omit<FindQuery, "limit" | "sort" | "after">): Promise<number>;
  /** Upserts each document whose stored `_position` is missing or lower; the others stay as they are. */
  replace(collection: string, documents: readonly Document[]): Promise<void>;
  /** Removes all documents of a collection. */
  clear(collection: string): Promise<void>;
  /** Removes a collection with its documents and indexes; nothing when there is none. Nobody may read it any more. */
  drop(collection: string): Promise<void>;
  checkpoint(projection: string): Promise<Checkpoint | undefined>;
  checkpoints(): Promise<Record<string, Checkpoint>>;
  /** Moves the checkpoint forward; a lower position than the stored one is ignored. */
  saveCheckpoint(projection: string, checkpoint: Checkpoint): Promise<void>;
  /** Forgets a projection's checkpoint, so that it starts again from zero. */
  resetCheckpoint(projection: string): Promise<void>;
  close(): Promise<void>;
}

/** How far a projection has come. `status: faulted` stops it at the event that it could not fold. */
export type Checkpoint = {
  position: Position;
  /** ISO 8601 UTC of the last event folded. */
  recordedAt: string;
  fault?: { position: Position; stream: string; type: string; error: string };
};
