// Turns an event of a decider into one that can be appended: validates it strictly, adds id, version and origin.
import { z } from "zod";
import { DomainError } from "../runtime/errors.ts";
import type { EventMetadata, NewEvent } from "../stores/event-store/port.ts";
import { catalogue, type EventType, type LinkledgerEvent } from "./catalogue.ts";

/** An event that doesn't match its schema: an error of this program, never of a request. */
export class EventInvalid extends DomainError {
  override readonly code = "event_invalid";
}

const strictSchemas = Object.fromEntries(
  Object.entries(catalogue).map(([type, definition]) => [type, strictly(definition.schema)]),
) as Readonly<Record<EventType, z.ZodType>>;

/**
 * `id`: a UUID; a retry of the same append must use the same one. Without an origin the event is its own cause, and its
 * actor is that of its type (metadataOf).
 * @throws EventInvalid when the data doesn't match the schema or has unknown keys
 */
export function newEvent(
  event: LinkledgerEvent,
  id: string,
  origin?: Required<Omit<EventMetadata, "schemaVersion">>,
): NewEvent {
  // Appends `event.data` and not the parsed copy, as the schemas transform nothing.
  const result = strictSchemas[event.type].safeParse(event.data);
  if (!result.success) throw new EventInvalid(`${event.type}: ${z.prettifyError(result.error)}`);
  const metadata = { schemaVersion: catalogue[event.type].version, ...origin };
  return { id, type: event.type, data: event.data, metadata };
}

/** The schema with unknown keys refused in nested objects too, as zod's `strict` applies to the top level only. */
function strictly(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodOptional) return strictly(schema.unwrap() as z.ZodType).optional();
  if (!(schema instanceof z.ZodObject)) return schema;
  const shape = Object.entries(schema.shape).map(([key, field]) => [key, strictly(field as z.ZodType)]);
  return z.strictObject(Object.fromEntries(shape));
}
