// Turns a recorded event into a typed one: upcasts and validates its data, and drops unknown keys.
import { z } from "zod";
import { DomainError, messageOf } from "../runtime/errors.ts";
import type { Actor, EventMetadata, RecordedEvent } from "../stores/event-store/port.ts";
import { catalogue, type StoredEvent } from "./catalogue.ts";
import { isPlainClick } from "./click-events.ts";
import { type EventDefinition, upcast } from "./definition.ts";

/** An event that was not parsed, has a type that there isn't, or data that doesn't match the type's schema. */
export class EventUnreadable extends DomainError {
  override readonly code = "event_unreadable";
}

/** An event of a known type in a newer version: a newer program reads it, so it must be waited for, not passed over. */
export class EventNewer extends DomainError {
  override readonly code = "event_newer";
}

/** Whether an event stands in the way, of one stream: work on others goes on. */
export function isEventError(error: unknown): boolean {
  return error instanceof EventUnreadable || error instanceof EventNewer;
}

/**
 * The event with data of the present version. `registry`: another one in tests, with types of several versions.
 * @throws EventUnreadable, EventNewer
 */
export function readEvent(
  recorded: RecordedEvent,
  registry: Readonly<Record<string, EventDefinition>> = catalogue,
): StoredEvent {
  const { type, stream, revision, data, metadata, unreadable } = recorded;
  const where = `${type || "Event"} at revision ${revision} of ${stream}`;
  if (unreadable !== undefined) throw new EventUnreadable(`${where}: ${unreadable}`);
  if (!Object.hasOwn(registry, type)) throw new EventUnreadable(`${where}: there is no such type`);
  const definition = registry[type] as EventDefinition;
  const version = metadata?.schemaVersion;
  if (Number.isInteger(version) && version > definition.version)
    throw new EventNewer(
      `${where}: version ${version} is of a newer program, this one knows ${definition.version}`,
    );
  let reason: string;
  try {
    const result = definition.schema.safeParse(upcast(definition, data, version));
    if (result.success) return { ...recorded, data: result.data } as StoredEvent;
    reason = z.prettifyError(result.error);
  } catch (cause) {
    throw new EventUnreadable(`${where}: ${messageOf(cause)}`, { cause });
  }
  throw new EventUnreadable(`${where}: ${reason}`);
}

/** `readEvent` for those to whom every click comes: one in the present form is returned as it is. @throws as `readEvent` does */
export function readFollowed(recorded: RecordedEvent): StoredEvent {
  const { type, data, metadata, unreadable } = recorded;
  const isPresentClick =
    type === "LinkClicked" &&
    unreadable === undefined &&
    metadata?.schemaVersion === catalogue.LinkClicked.version &&
    isPlainClick(data);
  return isPresentClick ? (recorded as StoredEvent) : readEvent(recorded);
}

/**
 * For readers that go on past an event that can't be read: undefined, after `onUnreadable`, which says so where it has to be
 * said. @throws EventNewer
 */
export function readableEvent(
  recorded: RecordedEvent,
  onUnreadable: (recorded: RecordedEvent, error: EventUnreadable) => void = () => undefined,
): StoredEvent | undefined {
  try {
    return readEvent(recorded);
  } catch (error) {
    if (!(error instanceof EventUnreadable)) throw error;
    onUnreadable(recorded, error);
    return undefined;
  }
}

const REDIRECT: Actor = { type: "system", id: "redirect" };
const UNKNOWN: Actor = { type: "system", id: "unknown" };

/**
 * An event's metadata with what they leave out: a click of the redirect has no origin but itself. One whose bytes were
 * changed may lack more.
 */
export function metadataOf({
  id,
  type,
  metadata,
}: Pick<RecordedEvent, "id" | "type" | "metadata">): Required<EventMetadata> {
  const actor = type === "LinkClicked" || type === "ClicksNotRecorded" ? REDIRECT : UNKNOWN;
  const complete = { correlationId: id, causationId: id, actor, ...(metadata ?? { schemaVersion: 0 }) };
  // As it was written while an account was one person, whose id is the account's.
  return (complete.actor.type as string) === "account"
    ? { ...complete, actor: { ...complete.actor, type: "person" } as Actor }
    : complete;
}
