// The expected documents of a projection: the plain fold of all events in order.
import type { StoredEvent } from "../../../src/events/catalogue.ts";
import type { Parts, Projection } from "../../../src/projections/projection.ts";
import type { Document } from "../../../src/stores/read-store/port.ts";

/** Documents by id, as plain JSON. */
export function plainFold<D extends Document>(
  projection: Projection<D>,
  events: readonly StoredEvent[],
): Map<string, D> {
  return foldOf(projection, events).documents;
}

/** Their parts by id, as plain JSON. */
export function plainParts<D extends Document, P extends Document>(
  projection: Projection<D>,
  events: readonly StoredEvent[],
): Map<string, P> {
  return foldOf(projection, events).parts as Map<string, P>;
}

function foldOf<D extends Document>(projection: Projection<D>, events: readonly StoredEvent[]) {
  const documents = new Map<string, D>();
  const parts = new Map<string, Document>();
  const inMemory = (position: string): Parts => ({
    change(id, evolve) {
      const part = evolve(parts.get(id) as Parameters<typeof evolve>[0]);
      parts.set(id, { ...part, _id: id, _position: position });
    },
  });
  for (const event of events) {
    if (!projection.handles.includes(event.type)) continue;
    const key = projection.key(event);
    if (key === undefined) continue;
    const before = documents.get(key) ?? projection.empty(event);
    const fields = projection.evolve(before, event, inMemory(event.position));
    documents.set(key, { ...fields, _id: key, _position: event.position } as D);
  }
  return { documents: asJson(documents), parts: asJson(parts) };
}

function asJson<D extends Document>(documents: ReadonlyMap<string, D>): Map<string, D> {
  return new Map([...documents].map(([id, document]) => [id, JSON.parse(JSON.stringify(document)) as D]));
}
