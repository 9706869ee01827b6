// How Linkledger's events look on EventStoreDB and back.
import type { EventMetadata, NewEvent } from "../port.ts";
import { proposedMessage } from "./protocol/append-messages.ts";

/** An event as it goes to the server. */
export type Proposed = { id: string; message: Uint8Array };

/** @throws TypeError when data or metadata are not plain JSON */
export function proposed({ id, type, data, metadata }: NewEvent): Proposed {
  const { correlationId, causationId, ...rest } = metadata;
  const reserved = { ...rest, $correlationId: correlationId, $causationId: causationId };
  const text = JSON.stringify(data);
  if (text === undefined) throw new TypeError(`Event ${type} ${id} has no data`);
  return { id, message: proposedMessage({ id, type, data: text, metadata: JSON.stringify(reserved) }) };
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
