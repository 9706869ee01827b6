// Folds events into some documents of one projection in memory; skips events that a document contains already.
import type { StoredEvent } from "../../events/catalogue.ts";
import type { Document, ReadStore } from "../../stores/read-store/port.ts";
import { type Fields, type Parts, type Projection, partsCollection } from "../projection.ts";
import { type FoldedDocuments, foldedSoFar } from "./document-correction.ts";
import { between } from "./event-batch.ts";

/** By the document's key, the events to be folded into it, in the order of the log. */
export type WaitingEvents = readonly [key: string, events: readonly StoredEvent[]];

/** Told of each event that the projection's own code has refused. */
export type OnRefused = (event: StoredEvent, error: unknown) => void;

/** What an event changes in a part. */
type PartChange = { id: string; event: StoredEvent; evolve: (part: object | undefined) => object };

/** The parts that change, by id, as they are so far. */
type HeldParts = Map<string, Document | undefined>;

type Reads = Pick<ReadStore, "getMany">;

/**
 * The documents that the events change, and their parts, as they are to be stored; those that contain the events already
 * are left out. A refused event changes nothing. @throws what the read store throws
 */
export async function foldDocuments(
  projection: Projection,
  readStore: Reads,
  waiting: readonly WaitingEvents[],
  onRefused: OnRefused,
): Promise<FoldedDocuments> {
  const stored = await storedOf(projection, readStore, waiting);
  const changes: PartChange[] = [];
  const documents = unlessThrown(() =>
    waiting.flatMap(([key, events]) => foldInto(projection, key, stored.get(key), events, changes) ?? []),
  );
  const held = documents && (await heldParts(projection, readStore, changes));
  const parts = held && unlessThrown(() => changeParts(held, changes));
  // `evolve` changes in place, so after a refusal what was folded by then is of no use.
  if (!documents || !parts) return await foldOneByOne(projection, readStore, waiting, onRefused);
  return { documents, parts };
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

/** Slow, as each event is folded into copies, so that a refused one changes nothing. */
async function foldOneByOne(
  projection: Projection,
  readStore: Reads,
  waiting: readonly WaitingEvents[],
  onRefused: OnRefused,
): Promise<FoldedDocuments> {
  const attempt = <T>(event: StoredEvent, fold: () => T): T | undefined =>
    unlessThrown(fold, (error) => onRefused(event, error));
  const stored = await storedOf(projection, readStore, waiting);
  const documents: Document[] = [];
  const held: HeldParts = new Map();
  const parts = new Map<string, Document>();
  for (const [key, events] of waiting) {
    let document: Document | undefined;
    for (const event of events) {
      const changes: PartChange[] = [];
      const before = structuredClone(document ?? stored.get(key));
      const after = attempt(event, () => foldInto(projection, key, before, [event], changes));
      if (!after) continue;
      for (const [id, part] of await heldParts(projection, readStore, changes, held)) held.set(id, part);
      const copies: HeldParts = new Map(changes.map(({ id }) => [id, structuredClone(held.get(id))]));
      const changed = attempt(event, () => changeParts(copies, changes));
      if (!changed) continue;
      document = after;
      for (const part of changed) {
        held.set(part._id, part);
        parts.set(part._id, part);
      }
    }
    if (document) documents.push(document);
  }
  return { documents, parts: [...parts.values()] };
}

function unlessThrown<T>(fold: () => T, onThrown: (error: unknown) => void = () => undefined): T | undefined {
  try {
    return fold();
  } catch (error) {
    onThrown(error);
    return undefined;
  }
}

async function storedOf(
  { collection }: Projection,
  readStore: Reads,
  waiting: readonly WaitingEvents[],
): Promise<Map<string, Document>> {
  const keys = waiting.map(([key]) => key);
  return await documentsOf(readStore, collection.name, keys);
}

/** Adds what changes in the document's parts to `changes`. Undefined when the document contains the events. */
function foldInto(
  projection: Projection,
  key: string,
  stored: Document | undefined,
  events: readonly StoredEvent[],
  changes: PartChange[],
): Document | undefined {
  const contained = stored?._position ?? "";
  let fields: Fields<Document> | undefined = foldedSoFar(stored);
  let last: StoredEvent | undefined;
  const parts: Parts = {
    change: (id, evolve) =>
      void changes.push({ id, event: last as StoredEvent, evolve: evolve as PartChange["evolve"] }),
  };
  for (const event of between(events, contained, undefined)) {
    last = event;
    fields = projection.evolve(fields ?? projection.empty(event), event, parts);
  }
  return fields && last && Object.assign(fields, { _id: key, _position: last.position });
}

/** The parts that change, which few documents have any of, as they are stored. `known`: those that were read before. */
async function heldParts(
  { collection }: Projection,
  readStore: Reads,
  changes: readonly PartChange[],
  known: HeldParts = new Map(),
): Promise<HeldParts> {
  const ids = [...new Set(changes.map(({ id }) => id))].filter((id) => !known.has(id));
  const stored = await documentsOf(readStore, partsCollection(collection.name), ids);
  return new Map(ids.map((id) => [id, stored.get(id)]));
}

/** Those that have changed. */
function changeParts(held: HeldParts, changes: readonly PartChange[]): Document[] {
  const changed = new Map<string, Document>();
  for (const { id, event, evolve } of changes) {
    const part = changed.get(id) ?? held.get(id);
    // Stored by a commit whose documents were not.
    if (part && part._position >= event.position) continue;
    changed.set(id, Object.assign(evolve(foldedSoFar(part)), { _id: id, _position: event.position }));
  }
  return [...changed.values()];
}
