// Compares documents that a running service changed after the log was folded again, each as of its own position.

import type { StoredEvent } from "../../events/catalogue.ts";
import { logPages } from "../../stores/event-store/log-pages.ts";
import type { EventStore, Position } from "../../stores/event-store/port.ts";
import type { Document } from "../../stores/read-store/port.ts";
import { categoriesOf, type Parts } from "../projection.ts";
import { type Correction, correct, isCorrection } from "../runner/corrected-clicks.ts";
import { documentCorrection, foldedSoFar } from "../runner/document-correction.ts";
import { parseBatch } from "../runner/event-batch.ts";
import { type ChangedDocument, type ChangedDocuments, type Comparison, compareEqual } from "./compare-all.ts";

const EVENTS_AT_A_TIME = 5_000;

/** Folds the events behind `after` into the changed documents alone, up to the position at which each was stored. */
export async function compareChanged(
  { eventStore }: { eventStore: Pick<EventStore, "read" | "readAll"> },
  comparisons: readonly Comparison[],
  after: Position,
): Promise<void> {
  const categories = categoriesOf(comparisons.map(({ projection }) => projection));
  const stored = comparisons.flatMap(({ changed, changedParts }) => [
    ...changed.values(),
    ...changedParts.values(),
  ]);
  const last =
    stored
      .map((one) => one.stored._position)
      .sort()
      .at(-1) ?? "";
  const part = { after, upTo: last, categories, limit: EVENTS_AT_A_TIME };
  for await (const recorded of logPages(eventStore, part))
    for (const event of parseBatch(recorded).events)
      if (isCorrection(event)) await correctChanged({ eventStore }, comparisons, event);
      else for (const found of comparisons) foldChanged(found, event);
  for (const found of comparisons) {
    for (const { stored, folded } of found.changed.values()) compareEqual(found, stored, folded);
    // Otherwise the commit that it is of was in flight, and its document was read as it was before.
    for (const { stored, folded } of found.changedParts.values())
      if (folded?._position === stored._position) compareEqual(found, stored, folded);
  }
}

function foldChanged({ projection, changed, changedParts }: Comparison, event: StoredEvent): void {
  if (changed.size === 0 || !projection.handles.includes(event.type)) return;
  const id = projection.key(event);
  const one = id === undefined ? undefined : changed.get(id);
  if (!one || event.position > one.stored._position) return;
  // Copies, so that an event that is refused changes nothing, as when it is folded.
  const copies = new Map<ChangedDocument, Document>();
  try {
    const before = structuredClone(foldedSoFar(one.folded)) ?? projection.empty(event);
    const fields = projection.evolve(before, event, partsAmong(changedParts, copies, event.position));
    copies.set(one, Object.assign(fields, { _id: one.stored._id, _position: event.position }) as Document);
  } catch {
    // It is set aside.
    return;
  }
  for (const [changedOne, folded] of copies) changedOne.folded = folded;
}

/** Up to the position at which each was stored. */
function partsAmong(
  changed: ReadonlyMap<string, ChangedDocument>,
  copies: Map<ChangedDocument, Document>,
  position: Position,
): Parts {
  return {
    change(id, evolve) {
      const one = changed.get(id);
      if (!one || position > one.stored._position) return;
      const before = copies.get(one) ?? structuredClone(one.folded);
      const part = evolve(foldedSoFar(before) as Parameters<typeof evolve>[0]);
      copies.set(one, Object.assign(part, { _id: id, _position: position }));
    },
  };
}

/** Clicks were withdrawn, or count again. */
async function correctChanged(
  deps: { eventStore: Pick<EventStore, "read" | "readAll"> },
  comparisons: readonly Comparison[],
  event: Correction,
): Promise<void> {
  const corrected = comparisons.flatMap(({ projection, changed, changedParts }) => {
    const awaiting = { documents: behind(changed, event), parts: behind(changedParts, event) };
    const load = { documents: foldedOf(awaiting.documents), parts: foldedOf(awaiting.parts) };
    const correction = awaiting.documents.size > 0 && documentCorrection(projection, load, event.position);
    return correction ? [{ awaiting, correction }] : [];
  });
  await correct(
    deps,
    event,
    corrected.map(({ correction }) => correction),
  );
  for (const { awaiting, correction } of corrected) {
    const { documents, parts } = await correction.documents();
    for (const document of documents) replaceFolded(awaiting.documents, document);
    for (const part of parts) replaceFolded(awaiting.parts, part);
  }
}

/** Those that contain the event. */
function behind(changed: ChangedDocuments, { position }: Correction): ChangedDocuments {
  return new Map([...changed].filter(([, { stored }]) => position <= stored._position));
}

function foldedOf(changed: ChangedDocuments) {
  return async (ids: readonly string[]) =>
    new Map(ids.flatMap((id) => changed.get(id)?.folded ?? []).map((document) => [document._id, document]));
}

function replaceFolded(changed: ChangedDocuments, document: Document): void {
  const one = changed.get(document._id);
  if (one) one.folded = document;
}
