// The type of every projection: a pure fold and its key. Batches, checkpoints and duplicates are left to fold/.

import type { EventType, StoredEvent } from "../events/catalogue.ts";
import type { CollectionSpec, Document } from "../stores/read-store/port.ts";

/** The document as folds see it; `_id` and `_position` are added to it. */
export type Fields<D extends Document> = Omit<D, "_id" | "_position">;

export type Handled<T extends EventType> = Extract<StoredEvent, { type: T }>;

/**
 * Of events of types `T`. `key`: id of the document that an event changes, undefined for none. `evolve` may change the given
 * document in place, as no other code holds a reference to it; its result must depend on the order of events only, not on
 * their batches. Members that begin with `_` are the fold's own, and are not compared when documents are verified.
 */
export type Projection<D extends Document = Document, T extends EventType = EventType> = {
  collection: CollectionSpec;
  handles: readonly T[];
  key(event: Handled<T>): string | undefined;
  /** Also where the first event is not the one that such documents begin with, as that can't be read. */
  empty(event: Handled<T>): Fields<D>;
  evolve(document: Fields<D>, event: Handled<T>): Fields<D>;
};

export function isHandled<T extends EventType>(
  { handles }: Pick<Projection<Document, T>, "handles">,
  event: StoredEvent,
): event is Handled<T> {
  return (handles as readonly EventType[]).includes(event.type);
}
