// The expected documents of a projection: the plain fold of all events in order.
import type { StoredEvent } from "../../../src/events/catalogue.ts";
import type { Projection } from "../../../src/projections/projection.ts";
import type { Document } from "../../../src/stores/read-store/port.ts";

/** Documents by id, as plain JSON. */
export function plainFold<D extends Document>(
  projection: Projection<D>,
  events: readonly StoredEvent[],
): Map<string, D> {
  const documents = new Map<string, D>();
  for (const event of events) {
    if (!projection.handles.includes(event.type)) continue;
    const key = projection.key(event);
    if (key === undefined) continue;
    const fields = projection.evolve(documents.get(key) ?? projection.empty(event), event);
    documents.set(key, { ...fields, _id: key, _position: event.position } as D);
  }
  return new Map([...documents].map(([id, document]) => [id, JSON.parse(JSON.stringify(document)) as D]));
}
