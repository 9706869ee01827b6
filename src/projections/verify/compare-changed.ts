// Compares documents that a running service changed after the log was folded again, each as of its own position.
import { logPages } from "../../event-store/log-pages.ts";
import type { EventStore, Position } from "../../event-store/port.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import type { Document } from "../../read-store/port.ts";
import type { Projection } from "../projection.ts";
import { type Correction, correct, isCorrection } from "../runner/corrected-clicks.ts";
import { documentCorrection, foldedSoFar } from "../runner/document-correction.ts";
import { parseBatch } from "../runner/event-batch.ts";
import { prefixesOf } from "../runner/status.ts";
import { type ChangedDocument, type Comparison, compareEqual } from "./compare-all.ts";

const EVENTS_AT_A_TIME = 5_000;

/** Folds the events behind `after` into the changed documents alone, up to the position at which each was stored. */
export async function compareChanged(
  { eventStore }: { eventStore: Pick<EventStore, "read" | "readAll"> },
  comparisons: readonly Comparison[],
  after: Position,
): Promise<void> {
  const prefixes = prefixesOf(comparisons.map(({ projection }) => projection));
  const stored = comparisons.flatMap(({ changed }) => [...changed.values()]);
  const last =
    stored
      .map((one) => one.stored._position)
      .sort()
      .at(-1) ?? "";
  const part = { after, upTo: last, prefixes, limit: EVENTS_AT_A_TIME };
  for await (const recorded of logPages(eventStore, part))
    for (const event of parseBatch(recorded).events)
      if (isCorrection(event)) await correctChanged({ eventStore }, comparisons, event);
      else for (const { projection, changed } of comparisons) foldChanged(projection, changed, event);
  for (const found of comparisons)
    for (const { stored, folded } of found.changed.values()) compareEqual(found, stored, folded);
}

function foldChanged(
  projection: Projection,
  changed: ReadonlyMap<string, ChangedDocument>,
  event: StoredEvent,
): void {
  if (changed.size === 0 || !projection.handles.includes(event.type)) return;
  const id = projection.key(event);
  const one = id === undefined ? undefined : changed.get(id);
  if (!one || event.position > one.stored._position) return;
  const fields = projection.evolve(foldedSoFar(one.folded) ?? projection.empty(event), event);
  one.folded = Object.assign(fields, { _id: one.stored._id, _position: event.position }) as Document;
}

/** Clicks were withdrawn, or count again. */
async function correctChanged(
  deps: { eventStore: Pick<EventStore, "read" | "readAll"> },
  comparisons: readonly Comparison[],
  event: Correction,
): Promise<void> {
  const corrected = comparisons.flatMap(({ projection, changed }) => {
    const awaiting = new Map([...changed].filter(([, { stored }]) => event.position <= stored._position));
    const load = async (keys: readonly string[]) =>
      new Map(keys.flatMap((key) => [[key, awaiting.get(key)?.folded] as const]).filter(isFound));
    const correction = awaiting.size > 0 && documentCorrection(projection, load, event.position);
    return correction ? [{ awaiting, correction }] : [];
  });
  await correct(
    deps,
    event,
    corrected.map(({ correction }) => correction),
  );
  for (const { awaiting, correction } of corrected)
    for (const document of await correction.documents()) {
      const one = awaiting.get(document._id);
      if (one) one.folded = document;
    }
}

function isFound(entry: readonly [string, Document | undefined]): entry is readonly [string, Document] {
  return entry[1] !== undefined;
}
