// Turns an event of a decider into one that can be appended: validates it strictly, adds id, version and origin.
import { z } from "zod";
import type { EventMetadata, NewEvent } from "../event-store/port.ts";
import { DomainError } from "../runtime/errors.ts";
import { catalogue, type EventOf, type EventType, type LinkledgerEvent } from "./catalogue.ts";

/** An event that doesn't match its schema: an error of this program, never of a request. */
export class EventInvalid extends DomainError {
  override readonly code = "event_invalid";
}

/** Where an event comes from; becomes a part of its metadata. */
export type EventOrigin = Pick<EventMetadata, "correlationId" | "causationId" | "actor">;

const strictSchemas = Object.fromEntries(
  Object.entries(catalogue).map(([type, definition]) => [type, strictly(definition.schema)]),
) as Readonly<Record<EventType, z.ZodType>>;

/**
 * `id`: a UUID; a retry of the same append must use the same one.
 * @throws EventInvalid when the data doesn't match the schema or has unknown keys
 */
export function newEvent(event: LinkledgerEvent, id: string, origin: EventOrigin): NewEvent {
  // Appends `event.data` and not the parsed copy, as the schemas transform nothing.
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

/**
 * Checks some members of an event's data, and returns them, for events that are written in columns.
 * @throws EventInvalid (from the function) when they don't match the schema, or others are there
 */
export function partOf<T extends EventType, M extends keyof EventOf<T>["data"] & string>(
  type: T,
  members: readonly M[],
): <P extends Pick<EventOf<T>["data"], M>>(part: P) => P {
  const { shape } = strictSchemas[type] as z.ZodObject;
  const schema = z.strictObject(Object.fromEntries(members.map((member) => [member, shape[member]])));
  return (part) => {
    const result = schema.safeParse(part);
    if (!result.success) throw new EventInvalid(`${type}: ${z.prettifyError(result.error)}`);
    return part;
  };
}

/** The members of an event's data, in the order of the schema. */
export function membersOf(type: EventType): string[] {
  return Object.keys(catalogue[type].schema.shape);
}

/** The schema with unknown keys refused in nested objects too, as zod's `strict` applies to the top level only. */
function strictly(schema: z.ZodType): z.ZodType {
  if (!(schema instanceof z.ZodObject)) return schema;
  const shape = Object.entries(schema.shape).map(([key, field]) => [key, strictly(field as z.ZodType)]);
  return z.strictObject(Object.fromEntries(shape));
}
