// Compares documents that a running service changed after the log was folded again, each as of its own position.
import type { EventStore, Position } from "../../event-store/port.ts";
import type { StoredEvent } from "../../events/catalogue.ts";
import type { Document } from "../../read-store/port.ts";
import type { Projection } from "../projection.ts";
import { parseBatch } from "../runner/event-batch.ts";
import { prefixesOf } from "../runner/status.ts";
import { type ChangedDocument, type Comparison, compareEqual } from "./compare-all.ts";

const EVENTS_AT_A_TIME = 5_000;

/** Folds the events behind `after` into the changed documents alone, up to the position at which each was stored. */
export async function compareChanged(
  { eventStore }: { eventStore: Pick<EventStore, "readAll"> },
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
  for (let position = after; position < last; ) {
    const recorded = await eventStore.readAll({
      after: position || undefined,
      prefixes,
      limit: EVENTS_AT_A_TIME,
    });
    for (const event of parseBatch(recorded).events)
      for (const { projection, changed } of comparisons) foldChanged(projection, changed, event);
    position = recorded.at(-1)?.position ?? last;
  }
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
  const fields = projection.evolve(one.folded ?? projection.empty(event), event);
  one.folded = Object.assign(fields, { _id: one.stored._id, _position: event.position }) as Document;
}
