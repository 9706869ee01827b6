// Folds events into some documents of one projection in memory; skips events that a document contains already.
import type { Position } from "../../event-store/port.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import type { Document, ReadStore } from "../../read-store/port.ts";
import { type Fields, type Parts, type Projection, partsCollection } from "../projection.ts";
import { type FoldedDocuments, foldedSoFar } from "./document-correction.ts";
import { between } from "./event-batch.ts";

/** By the document's key, the events to be folded into it, in the order of the log. */
export type WaitingEvents = readonly [key: string, events: readonly StoredEvent[]];

/** The projection's own code threw. */
export type FoldFailure = { event: StoredEvent; error: unknown };

type Reads = Pick<ReadStore, "getMany">;

/**
 * The documents that the events change, and their parts, as they are to be stored; those that contain the events already
 * are left out. @throws what the read store throws
 */
export async function foldDocuments(
  projection: Projection,
  readStore: Reads,
  waiting: readonly WaitingEvents[],
): Promise<FoldedDocuments | FoldFailure> {
  const keys = waiting.map(([key]) => key);
  const stored = await documentsOf(readStore, projection.collection.name, keys);
  const parts = new ChangedParts(await partsOf(projection, readStore, waiting, stored));
  const documents: Document[] = [];
  for (const [key, events] of waiting) {
    const folded = foldInto(projection, stored.get(key), events, parts);
    if (folded && "error" in folded) return folded;
    if (folded) documents.push(Object.assign(folded.fields, { _id: key, _position: folded.position }));
  }
  return { documents, parts: [...parts.changed.values()] };
}

/** Those of the ids that exist, by id. @throws what the read store throws */
export async function documentsOf(
  readStore: Reads,
  collection: string,
  ids: readonly string[],
): Promise<Map<string, Document>> {
  if (ids.length === 0) return new Map();
  const found = await readStore.getMany(collection, ids);
  return new Map(found.map((document) => [document._id, document]));
}

/** Undefined when the document contains the events. */
function foldInto(
  projection: Projection,
  stored: Document | undefined,
  events: readonly StoredEvent[],
  parts: Parts,
): { fields: Fields<Document>; position: Position } | FoldFailure | undefined {
  const contained = stored?._position ?? "";
  let fields: Fields<Document> | undefined = foldedSoFar(stored);
  let position: Position | undefined;
  for (const event of between(events, contained, undefined)) {
    try {
      fields = projection.evolve(fields ?? projection.empty(event), event, parts);
    } catch (error) {
      return { event, error };
    }
    position = event.position;
  }
  return fields && position !== undefined ? { fields, position } : undefined;
}

/** The parts that the events may change, as they are stored: none for nearly all documents. */
async function partsOf(
  { parts, collection, empty }: Projection,
  readStore: Reads,
  waiting: readonly WaitingEvents[],
  stored: ReadonlyMap<string, Document>,
): Promise<Map<string, Document>> {
  const ids = new Set<string>();
  if (!parts) return new Map();
  for (const [key, events] of waiting) {
    const [first] = events;
    const fields = foldedSoFar(stored.get(key)) ?? (first && empty(first));
    if (!fields || events.every((event) => parts.isWithin(fields, event))) continue;
    for (const event of events) for (const id of parts.idsOf(event)) ids.add(id);
  }
  return await documentsOf(readStore, partsCollection(collection.name), [...ids]);
}

/** Changes parts in memory, from `stored`: those that exist of all that the events may change. */
class ChangedParts implements Parts {
  readonly changed = new Map<string, Document>();
  readonly #stored: ReadonlyMap<string, Document>;

  constructor(stored: ReadonlyMap<string, Document>) {
    this.#stored = stored;
  }

  change<P extends object>(id: string, position: Position, evolve: (part: P | undefined) => P): void {
    const part = this.changed.get(id) ?? this.#stored.get(id);
    // Stored by a commit whose documents were not.
    if (part && part._position >= position) return;
    const next = evolve(foldedSoFar(part) as P | undefined);
    this.changed.set(id, Object.assign(next, { _id: id, _position: position }));
  }
}
