// From a recorded event to a typed one: upcast, checked, unknown keys dropped; what every fold reads through.
import { z } from "zod";
import type { RecordedEvent } from "../event-store/port.ts";
import { DomainError, messageOf } from "../runtime/errors.ts";
import { catalogue, type StoredEvent } from "./catalogue.ts";
import { type EventDefinition, upcast } from "./definition.ts";

/** Stored data that this program can't read: a newer version's, or not what its schema says. */
export class EventUnreadable extends DomainError {
  override readonly code = "event_unreadable";
}

/**
 * The event as today's program sees it; undefined for a type it doesn't know, which a newer version may have written.
 * @throws EventUnreadable when the type is known but the data can't be made to fit its schema
 */
export function readEvent(recorded: RecordedEvent): StoredEvent | undefined {
  return readEventOf(catalogue, recorded) as StoredEvent | undefined;
}

/** `readEvent` against any registry, so that the mechanism can be shown with types that don't exist yet. */
export function readEventOf(
  registry: Readonly<Record<string, EventDefinition>>,
  recorded: RecordedEvent,
): RecordedEvent | undefined {
  if (!Object.hasOwn(registry, recorded.type)) return undefined;
  const definition = registry[recorded.type] as EventDefinition;
  return { ...recorded, data: dataOf(definition, recorded) };
}

function dataOf(definition: EventDefinition, recorded: RecordedEvent): unknown {
  const { type, stream, revision, metadata } = recorded;
  const where = `${type} at revision ${revision} of ${stream}`;
  let reason: string;
  try {
    const current = upcast(definition, recorded.data, metadata.schemaVersion);
    const result = definition.schema.safeParse(current);
    if (result.success) return result.data;
    reason = z.prettifyError(result.error);
  } catch (cause) {
    throw new EventUnreadable(`${where}: ${messageOf(cause)}`, { cause });
  }
  throw new EventUnreadable(`${where}: ${reason}`);
}
