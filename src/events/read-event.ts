// Turns a recorded event into a typed one: upcasts and validates its data, and drops unknown keys.
import { z } from "zod";
import type { RecordedEvent } from "../event-store/port.ts";
import { DomainError, messageOf } from "../runtime/errors.ts";
import { catalogue, type StoredEvent } from "./catalogue.ts";
import { type EventDefinition, upcast } from "./definition.ts";

/** Stored data of a newer version, or that doesn't match its schema. */
export class EventUnreadable extends DomainError {
  override readonly code = "event_unreadable";
}

/**
 * The event with data of the present version; undefined for an unknown type, which a newer program may have written.
 * @throws EventUnreadable when the type is known and its data can't be read
 */
export function readEvent(recorded: RecordedEvent): StoredEvent | undefined {
  return readEventOf(catalogue, recorded) as StoredEvent | undefined;
}

/** `readEvent` for any catalogue, so that tests can use types with several versions. */
export function readEventOf(
  registry: Readonly<Record<string, EventDefinition>>,
  recorded: RecordedEvent,
): RecordedEvent | undefined {
  const { type, stream, revision, data, metadata, unreadable } = recorded;
  const where = `${type || "An event"} at revision ${revision} of ${stream}`;
  if (unreadable !== undefined) throw new EventUnreadable(`${where}: ${unreadable}`);
  if (!Object.hasOwn(registry, type)) return undefined;
  const definition = registry[type] as EventDefinition;
  let reason: string;
  try {
    const current = upcast(definition, data, metadata.schemaVersion);
    const result = definition.schema.safeParse(current);
    if (result.success) return { ...recorded, data: result.data };
    reason = z.prettifyError(result.error);
  } catch (cause) {
    throw new EventUnreadable(`${where}: ${messageOf(cause)}`, { cause });
  }
  throw new EventUnreadable(`${where}: ${reason}`);
}
