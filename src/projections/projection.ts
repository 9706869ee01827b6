// The type of every projection: a pure fold and its key. Batches, checkpoints and duplicates are left to runner.ts.

import type { StoredEvent } from "../events/catalogue.ts";
import { categoryOf } from "../stores/event-store/categories.ts";
import type { CollectionSpec, Document } from "../stores/read-store/port.ts";

/** The document as folds see it; the runner adds `_id` and `_position`. */
export type Fields<D extends Document> = Omit<D, "_id" | "_position">;

/**
 * Changes parts of a document by the event that is folded into it, which changes a part once at most. `id`: of the part;
 * `evolve`: gets undefined for a part that doesn't exist yet, and may change the given one in place. Parts are read and
 * changed after the document is folded, in the order of these calls.
 */
export type Parts = {
  change<P extends object>(id: string, evolve: (part: P | undefined) => P): void;
};

/** For documents that are folded without what is kept apart from them. */
export const withoutParts: Parts = { change: () => undefined };

/**
 * What of a document changes seldom, such as the earlier days of a link: kept apart from it, in documents of a collection
 * of their own (`partsCollection`), so that the document that changes with each event stays small.
 */
export type PartsSpec<D extends Document> = {
  /** For events that are taken out: whether one changes the document alone. */
  isWithin(document: Fields<D>, event: StoredEvent): boolean;
  /** Ids of the parts that it is counted in otherwise. */
  idsOf(event: StoredEvent): string[];
  /** A part without any event. */
  empty(): object;
};

/**
 * `key`: id of the document that an event changes, undefined for none. `evolve` may change the given document in place,
 * as no other code holds a reference to it; its result must depend on the order of events only, not on their batches.
 */
export type Projection<D extends Document = Document> = {
  name: string;
  /** Raised when the fold changes: a build of the new version is folded beside the active one, then becomes active. */
  version: number;
  /** Oldest version whose documents queries can read; builds of versions before are not queried; default 1. */
  readsSince?: number;
  /** Which build of the version (builds/build.ts); default 0, the first. */
  build?: number;
  /** The rules under which the build's clicks are classified again (builds/build.ts); default: as recorded. */
  rules?: string;
  collection: CollectionSpec;
  /** Categories of the streams to read, such as `clicks`. */
  categories: readonly string[];
  handles: readonly StoredEvent["type"][];
  key(event: StoredEvent): string | undefined;
  empty(event: StoredEvent): Fields<D>;
  parts?: PartsSpec<D>;
  /** Must not depend on what the document's parts contain. */
  evolve(document: Fields<D>, event: StoredEvent, parts?: Parts): Fields<D>;
  /**
   * With this, clicks are taken out by folding the documents again from those of the link that count; each document must be
   * of one link. Without this and `withdraw`, every recorded click counts.
   */
  recounts?: true;
  /** Undoes `evolve` for one click, in place; for counters, where the order of clicks makes no difference. */
  withdraw?(document: Fields<D>, event: StoredEvent): Fields<D>;
};

/** Name of the collection of the parts, beside that of the documents. */
export function partsCollection(collection: string): string {
  return `${collection}-parts`;
}

/** Whether events of the stream may be the projection's. */
export function readsStream({ categories }: Pick<Projection, "categories">, stream: string): boolean {
  return categories.includes(categoryOf(stream));
}

/** What a projection's build keeps its documents in, beside its notes (coordination/set-aside.ts). */
export function collectionsOf({ collection, parts }: Projection): CollectionSpec[] {
  return parts ? [collection, { name: partsCollection(collection.name), indexes: [] }] : [collection];
}

/** Each build of each version has its own checkpoint. */
export function checkpointName({
  name,
  version,
  build = 0,
}: Pick<Projection, "name" | "version" | "build">): string {
  return build === 0 ? `${name}:${version}` : `${name}:${version}#${build}`;
}

/** Categories of all streams that the projections read. */
export function categoriesOf(projections: readonly Projection[]): string[] {
  return [...new Set(projections.flatMap(({ categories }) => categories))];
}
