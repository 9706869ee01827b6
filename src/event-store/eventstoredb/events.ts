// How Linkledger's events and positions look on EventStoreDB and back; no bigint leaves this folder.
import type { EventMetadata, NewEvent, Position, RecordedEvent } from "../port.ts";
import type { LogPosition, ProposedEvent } from "./driver.ts";

const DIGITS = 20;

/** Both numbers, each padded to the width of an unsigned 64-bit integer, so that text order is log order. */
export function positionText({ commit, prepare }: LogPosition): Position {
  return `${String(commit).padStart(DIGITS, "0")}:${String(prepare).padStart(DIGITS, "0")}`;
}

/** @throws RangeError when the text isn't a position of this store, such as one kept from another backend */
export function logPosition(position: Position): LogPosition {
  const match = /^(\d{20}):(\d{20})$/.exec(position);
  if (!match) throw new RangeError(`${position} is not a position of EventStoreDB`);
  return { commit: BigInt(match[1] as string), prepare: BigInt(match[2] as string) };
}

/** An event as a driver takes it, with its size in bytes. */
export type Proposed = { event: ProposedEvent; bytes: number };

/**
 * Serialises once before the client does: inside the client a bigint, a cycle or missing data becomes an unhandled
 * rejection and an append that never settles.
 * @throws TypeError when data or metadata are not plain JSON
 */
export function proposed({ id, type, data, metadata }: NewEvent): Proposed {
  const { correlationId, causationId, ...rest } = metadata;
  const reserved = { ...rest, $correlationId: correlationId, $causationId: causationId };
  const text = JSON.stringify(data);
  if (text === undefined) throw new TypeError(`Event ${type} ${id} has no data`);
  const bytes = Buffer.byteLength(text) + Buffer.byteLength(JSON.stringify(reserved)) + type.length + 64;
  return { event: { id, type, data, metadata: reserved }, bytes };
}

/** The server's largest value stands for "no position": servers before 22.6 say so in stream reads. */
const NO_POSITION = 2n ** 64n - 1n;

/** An event as both clients answer it. */
export type ClientEvent = {
  id: string;
  type: string;
  streamId: string;
  revision: bigint;
  created: Date;
  data: unknown;
  metadata?: unknown;
  position?: LogPosition | undefined;
};

export function recordedEvent(event: ClientEvent): RecordedEvent {
  const { position } = event;
  if (!position || position.commit === NO_POSITION)
    throw new Error(`${event.streamId} came without positions: EventStoreDB 22.10 or later is needed`);
  return {
    id: event.id,
    type: event.type,
    data: event.data,
    metadata: recordedMetadata(event.metadata),
    stream: event.streamId,
    revision: Number(event.revision),
    position: positionText(position),
    recordedAt: event.created.toISOString(),
  };
}

/** Foreign events may have none, or bytes that aren't JSON: theirs reads as empty, and nothing here handles them. */
function recordedMetadata(metadata: unknown): EventMetadata {
  if (typeof metadata !== "object" || metadata === null || metadata instanceof Uint8Array)
    return {} as EventMetadata;
  const { $correlationId, $causationId, ...rest } = metadata as Record<string, unknown>;
  const named = {
    ...($correlationId === undefined ? {} : { correlationId: $correlationId }),
    ...($causationId === undefined ? {} : { causationId: $causationId }),
  };
  return { ...rest, ...named } as EventMetadata;
}
