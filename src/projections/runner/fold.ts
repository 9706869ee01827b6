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

/** What an event changes in a part. */
type PartChange = { id: string; event: StoredEvent; evolve: (part: object | undefined) => object };

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
  const changes: PartChange[] = [];
  const documents: Document[] = [];
  for (const [key, events] of waiting) {
    const folded = foldInto(projection, stored.get(key), events, changes);
    if (folded && "error" in folded) return folded;
    if (folded) documents.push(Object.assign(folded.fields, { _id: key, _position: folded.position }));
  }
  const parts = await foldParts(projection, readStore, changes);
  return "error" in parts ? parts : { documents, parts };
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

/** Adds what changes in the document's parts to `changes`. Undefined when the document contains the events. */
function foldInto(
  projection: Projection,
  stored: Document | undefined,
  events: readonly StoredEvent[],
  changes: PartChange[],
): { fields: Fields<Document>; position: Position } | FoldFailure | undefined {
  const contained = stored?._position ?? "";
  let fields: Fields<Document> | undefined = foldedSoFar(stored);
  let last: StoredEvent | undefined;
  const parts: Parts = {
    change: (id, evolve) =>
      void changes.push({ id, event: last as StoredEvent, evolve: evolve as PartChange["evolve"] }),
  };
  for (const event of between(events, contained, undefined)) {
    last = event;
    try {
      fields = projection.evolve(fields ?? projection.empty(event), event, parts);
    } catch (error) {
      return { event, error };
    }
  }
  return fields && last ? { fields, position: last.position } : undefined;
}

/** The parts that change, which few documents have any of. */
async function foldParts(
  { collection }: Projection,
  readStore: Reads,
  changes: readonly PartChange[],
): Promise<Document[] | FoldFailure> {
  const ids = new Set(changes.map(({ id }) => id));
  const stored = await documentsOf(readStore, partsCollection(collection.name), [...ids]);
  const changed = new Map<string, Document>();
  for (const { id, event, evolve } of changes) {
    const part = changed.get(id) ?? stored.get(id);
    // Stored by a commit whose documents were not.
    if (part && part._position >= event.position) continue;
    try {
      changed.set(id, Object.assign(evolve(foldedSoFar(part)), { _id: id, _position: event.position }));
    } catch (error) {
      return { event, error };
    }
  }
  return [...changed.values()];
}
