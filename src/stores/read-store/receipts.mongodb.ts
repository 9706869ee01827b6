// What each commit leaves, as it is not one transaction: some of the documents that it has written, by which documents that
// were put back from a copy are found out. Collections are copied one after the other, so such a copy is of no one moment,
// and no checkpoint is true of it.
import type { Collection } from "mongodb";
import type { Position } from "../event-store/port.ts";
import type { WriteBatch } from "./port.ts";

/** `position`: "" for one that was removed. */
type Named = { collection: string; id: string; position: Position };

/** `number`: counts the receipts of a checkpoint from 1. `json`: of the documents that it names. */
export type StoredReceipt = { _id: string; number: number; term: number; json: string };

/**
 * What commits leave in the checkpoint itself. `receipt`: the number of the last one. `begun`: up to where commits have begun.
 * `last:COLLECTION`: JSON of a document of the last commit that wrote into the collection, however long ago that was.
 */
export type Left = { receipt: number; begun: Position; [last: `${typeof LAST}${string}`]: string };

const LAST = "last:";
/** Of each checkpoint; later ones take the places of earlier ones. */
const MOST_RECEIPTS = 100;
/** Of a commit; at least the first of each collection. */
const MOST_NAMED = 20;

/** In the order of their collections, spread over each; with all that are removed, before those that are written. */
export function namedIn(documents: WriteBatch["documents"]): Named[] {
  const changed = documents.filter((batch) => batch.documents.length > 0);
  const each = Math.max(1, Math.floor(MOST_NAMED / changed.length));
  const removed = documents.flatMap(({ collection, removed = [] }) =>
    removed.map(({ id }) => ({ collection, id, position: "" })),
  );
  const written = changed.flatMap(({ collection, documents }) => {
    const step = Math.ceil(documents.length / each);
    const named = documents.filter((_, n) => n % step === 0);
    return named.map(({ _id: id, _position: position }) => ({ collection, id, position }));
  });
  return [...removed, ...written];
}

/** As fields of the checkpoint. */
export function lastOf(named: readonly Named[]): Partial<Left> {
  return Object.fromEntries(named.map((last) => [`${LAST}${last.collection}`, JSON.stringify(last)]));
}

/** @throws the server's error of a duplicate key where a commit that began later has left one */
export async function leaveReceipt(
  receipts: Collection<StoredReceipt>,
  checkpoint: string,
  { receipt: number, term }: { receipt: number; term: number },
  named: readonly Named[],
): Promise<void> {
  const _id = `${checkpoint}/${number % MOST_RECEIPTS}`;
  const unmoved = await receipts.findOne({ _id, number });
  const left = { number, term, json: JSON.stringify([...removedBy(unmoved, named), ...named]) };
  await receipts.updateOne({ _id, term: { $not: { $gt: term } } }, { $set: left }, { upsert: true });
}

/** What a commit of the same number removed that ended before its checkpoint moved: nothing else says that it is gone. */
function removedBy(unmoved: StoredReceipt | null, named: readonly Named[]): Named[] {
  const ofUnmoved = unmoved ? (JSON.parse(unmoved.json) as Named[]) : [];
  const isNamed = ({ collection, id }: Named) =>
    named.some((other) => other.collection === collection && other.id === id);
  return ofUnmoved.filter((removed) => removed.position === "" && !isNamed(removed));
}

export async function receiptsOf(
  receipts: Collection<StoredReceipt>,
  checkpoint: string,
): Promise<StoredReceipt[]> {
  return await receipts.find(ofCheckpoint(checkpoint)).toArray();
}

export async function removeReceipts(receipts: Collection<StoredReceipt>, checkpoint: string): Promise<void> {
  await receipts.deleteMany(ofCheckpoint(checkpoint));
}

/**
 * How what is stored differs from what commits leave; undefined: it doesn't. A commit that ended before its checkpoint moved
 * has left a receipt more, or documents up to where it had `begun`. `positionsOf`: of the documents that are there, by id.
 */
export async function differenceFrom(
  receipts: readonly StoredReceipt[],
  checkpoint: Left,
  positionsOf: (collection: string, ids: string[]) => Promise<Map<string, Position>>,
): Promise<string | undefined> {
  const { receipt, begun } = checkpoint;
  const newest = Math.max(0, ...receipts.map(({ number }) => number));
  if (newest !== receipt && newest !== receipt + 1)
    return `its checkpoint is of commit ${receipt}, and commit ${newest} is the last one that left a receipt`;
  for (const [collection, leastById] of leastPositions(receipts, checkpoint)) {
    const stored = await positionsOf(collection, [...leastById.keys()]);
    for (const [id, least] of leastById) {
      const position = stored.get(id);
      if (position === undefined || position < least)
        return `${id} of ${collection} is older than a commit has left it`;
      // What was rewritten after its last event has a position behind it (versionAfter of definitions/click-tables/positions.ts).
      if (position.replace(/\++$/, "") > begun)
        return `${id} of ${collection} is newer than any commit can have left it`;
    }
  }
  return undefined;
}

/** Of all that is named, by collection and id: the position that the document has at least. */
function leastPositions(
  receipts: readonly StoredReceipt[],
  checkpoint: Left,
): Map<string, Map<string, Position>> {
  const least = new Map<string, Map<string, Position>>();
  const texts = Object.entries(checkpoint).flatMap(([field, text]) =>
    field.startsWith(LAST) ? `[${text}]` : [],
  );
  const inOrder = receipts.toSorted((a, b) => a.number - b.number);
  // What is left in the checkpoint is older than a receipt of a commit that ended before it moved, and may have removed it.
  for (const json of [...texts, ...inOrder.map(({ json }) => json)])
    for (const { collection, id, position } of JSON.parse(json) as Named[]) {
      const ofCollection = least.get(collection) ?? new Map<string, Position>();
      if (position === "") ofCollection.delete(id);
      else if ((ofCollection.get(id) ?? "") < position) ofCollection.set(id, position);
      least.set(collection, ofCollection);
    }
  return least;
}

/** A range of ids, as `0` follows on `/`. */
function ofCheckpoint(checkpoint: string) {
  return { _id: { $gte: `${checkpoint}/`, $lt: `${checkpoint}0` } };
}
