// From a decided event to one that can be appended: checked strictly, stamped with version and origin.
import { z } from "zod";
import type { EventMetadata, NewEvent } from "../event-store/port.ts";
import { DomainError } from "../runtime/errors.ts";
import { catalogue, type EventType, type LinkledgerEvent } from "./catalogue.ts";

/** An event that must not be written: a mistake in this program, never in a request. */
export class EventInvalid extends DomainError {
  override readonly code = "event_invalid";
}

/** Where an event came from; ends in its metadata. */
export type EventOrigin = Pick<EventMetadata, "correlationId" | "causationId" | "actor">;

const strictSchemas = Object.fromEntries(
  Object.entries(catalogue).map(([type, definition]) => [type, strictly(definition.schema)]),
) as Readonly<Record<EventType, z.ZodType>>;

/**
 * `id`: a UUID, the same again when the same append is retried.
 * @throws EventInvalid when the data isn't exactly what the schema says, unknown keys included
 */
export function newEvent(event: LinkledgerEvent, id: string, origin: EventOrigin): NewEvent {
  // The schemas change nothing, so what passes goes on as it is: a copy would cost as much as the check.
  const result = strictSchemas[event.type].safeParse(event.data);
  if (!result.success) throw new EventInvalid(`${event.type}: ${z.prettifyError(result.error)}`);
  const { correlationId, causationId, actor } = origin;
  return {
    id,
    type: event.type,
    data: event.data,
    metadata: { schemaVersion: catalogue[event.type].version, correlationId, causationId, actor },
  };
}

/** The same schema, refusing unknown keys in nested objects too: `strict` alone looks at the top level only. */
function strictly(schema: z.ZodType): z.ZodType {
  if (!(schema instanceof z.ZodObject)) return schema;
  const shape = Object.entries(schema.shape).map(([key, field]) => [key, strictly(field as z.ZodType)]);
  return z.strictObject(Object.fromEntries(shape));
}
