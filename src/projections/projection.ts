// The shape of every projection: a pure fold and how it is keyed. Batches, checkpoints, duplicates are runner.ts's.
import type { StoredEvent } from "../events/catalogue.ts";
import type { CollectionSpec, Document } from "../read-store/port.ts";

/** What a fold may not see: the runner adds `_id` and `_position`. */
export type Fields<D extends Document> = Omit<D, "_id" | "_position">;

/**
 * `key` names the document an event belongs to, undefined for none. `evolve` gets a document that nobody else
 * holds and may change it in place; it must give the same result for the same events in the same order, whatever
 * the batches. A document is stored as `collection.name` / key.
 */
export type Projection<D extends Document = Document> = {
  name: string;
  /** Raised when the fold changes: the new version is built beside the previous one, which answers until then. */
  version: number;
  /** Documents of versions before this one would mislead the queries, so nothing is answered from them; default 1. */
  readsSince?: number;
  /** Which build of the version (builds/build.ts); default 0, the first. */
  build?: number;
  collection: CollectionSpec;
  /** Stream prefixes read, such as `clicks-`. */
  prefixes: readonly string[];
  handles: readonly StoredEvent["type"][];
  key(event: StoredEvent): string | undefined;
  empty(event: StoredEvent): Fields<D>;
  evolve(document: Fields<D>, event: StoredEvent): Fields<D>;
};

/** Each version starts from zero on its own, and so does each build of it. */
export function checkpointName({
  name,
  version,
  build = 0,
}: Pick<Projection, "name" | "version" | "build">): string {
  return build === 0 ? `${name}:${version}` : `${name}:${version}#${build}`;
}
