// How Linkledger's events look on EventStoreDB and back.
import { jsonOfColumns } from "../column-json.ts";
import { idsOf, isColumns } from "../event-columns.ts";
import type { EventColumns, EventMetadata, NewEvent, NewEvents } from "../port.ts";
import type { Proposed } from "./driver.ts";
import { proposedMessage } from "./protocol/append-messages.ts";

/** @throws TypeError when data or metadata are not plain JSON */
export function proposed(events: NewEvents): Proposed[] {
  return isColumns(events) ? proposedColumns(events) : events.map(proposedEvent);
}

function proposedEvent({ id, type, data, metadata }: NewEvent): Proposed {
  const text = JSON.stringify(data);
  if (text === undefined) throw new TypeError(`Event ${type} ${id} has no data`);
  const message = proposedMessage({ id, type, data: text, metadata: JSON.stringify(reserved(metadata)) });
  return { id, message };
}

/** The same as of the batch's events, without making them; each is its own cause, so their metadata differ by id alone. */
function proposedColumns(columns: EventColumns): Proposed[] {
  const { type, schemaVersion, actor } = columns;
  const texts = jsonOfColumns(columns);
  const common = JSON.stringify({ schemaVersion, actor }).slice(0, -1);
  return idsOf(columns).map((id, n) => {
    const metadata = `${common},"$correlationId":"${id}","$causationId":"${id}"}`;
    return { id, message: proposedMessage({ id, type, data: texts[n] as string, metadata }) };
  });
}

/** The names that EventStoreDB itself gives to these two. */
function reserved({ correlationId, causationId, ...rest }: EventMetadata): Record<string, unknown> {
  return { ...rest, $correlationId: correlationId, $causationId: causationId };
}

/** Foreign events may have none, or something else than an object: theirs reads as empty, and nothing here handles them. */
export function recordedMetadata(metadata: unknown): EventMetadata {
  if (typeof metadata !== "object" || metadata === null) return {} as EventMetadata;
  const { $correlationId, $causationId, ...rest } = metadata as Record<string, unknown>;
  const named = {
    ...($correlationId === undefined ? {} : { correlationId: $correlationId }),
    ...($causationId === undefined ? {} : { causationId: $causationId }),
  };
  return { ...rest, ...named } as EventMetadata;
}
