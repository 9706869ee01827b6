// How events and positions look to the client of EventStoreDB, and back.
import {
  type JSONEventData,
  START as LOG_START,
  type Position as LogPosition,
  type ResolvedEvent,
} from "@eventstore/db-client";
import { Failure } from "../../../runtime/errors.ts";
import { isObject } from "../../../runtime/is-object.ts";
import { plainJson } from "../plain-json.ts";
import {
  type EventMetadata,
  type NewEvent,
  type Position,
  type RecordedEvent,
  START,
  type StoredText,
} from "../port.ts";

/** What an event takes beside its texts, roughly. */
const ENVELOPE_BYTES = 100;

/** As the client takes it. `bytes`: about what it is in a request. */
export type Proposed = { event: JSONEventData; bytes: number };

/**
 * Tries everything that the client does later, where a failure would end the process and never settle the append.
 * @throws TypeError when data or metadata are not plain JSON, and for data that is a text: on reading the client gives a
 * text also for what is no JSON
 */
export function proposed({ id, type, data, metadata }: NewEvent): Proposed {
  const { correlationId, causationId, ...rest } = metadata;
  // The names that EventStoreDB itself gives to these two.
  const reserved = { ...rest, $correlationId: correlationId, $causationId: causationId };
  const text = plainJson(data);
  if (text.startsWith('"')) throw new TypeError(`The data of ${type} ${id} is a text alone`);
  const event = { id, type, contentType: "application/json", data, metadata: reserved } as JSONEventData;
  return { event, bytes: Buffer.byteLength(text + JSON.stringify(reserved) + type) + ENVELOPE_BYTES };
}

/** Events of other programs, and any that can't be parsed, are `unreadable`. */
export function recorded({ event }: ResolvedEvent): RecordedEvent {
  if (!event?.position)
    throw new Error("An event came without its position: EventStoreDB 23.10 or newer is needed");
  const { id, type, streamId: stream, revision, position, created } = event;
  const place = {
    stream,
    revision: Number(revision),
    position: positionText(position),
    recordedAt: created.toISOString(),
  };
  const data: unknown = event.data;
  const metadata: unknown = event.metadata;
  const unreadable = !event.isJson
    ? "its content type is not JSON"
    : typeof data === "string"
      ? "its data is no JSON, or a text alone"
      : isObject(metadata) && !(metadata instanceof Uint8Array)
        ? undefined
        : "its metadata is no JSON object";
  if (unreadable) return { id, type, data: null, metadata: { schemaVersion: 0 }, ...place, unreadable };
  return { id, type, data, metadata: ours(metadata as Record<string, unknown>), ...place };
}

/**
 * The client parses what is JSON and doesn't hand out its text: that is written anew, for our appends as they sent it. Of
 * other content the bytes are given in Base64. `read`: the event, where it was read already.
 */
export function storedText(resolved: ResolvedEvent, read = recorded(resolved)): StoredText {
  const { data: _, metadata: __, ...event } = read;
  return { ...event, data: textOf(resolved.event?.data), metadata: textOf(resolved.event?.metadata) };
}

function textOf(content: unknown): string {
  if (content instanceof Uint8Array) return Buffer.from(content).toString("base64");
  return typeof content === "string" ? content : (JSON.stringify(content) ?? "");
}

function ours({ $correlationId, $causationId, ...rest }: Record<string, unknown>): EventMetadata {
  return {
    ...rest,
    ...($correlationId !== undefined && { correlationId: $correlationId }),
    ...($causationId !== undefined && { causationId: $causationId }),
  } as EventMetadata;
}

const DIGITS = 20;

/** Both numbers, each padded to the width of an unsigned 64-bit integer, so that text order is log order. */
export function positionText({ commit, prepare }: LogPosition): Position {
  return [commit, prepare].map((offset) => String(offset).padStart(DIGITS, "0")).join(":");
}

/** @throws invalid_position when the text isn't a position of this store, such as one kept from another backend */
export function logPosition(position: Position): LogPosition | typeof LOG_START {
  if (position === START) return LOG_START;
  const [, commit, prepare] = /^(\d{20}):(\d{20})$/.exec(position) ?? [];
  if (!commit || !prepare)
    throw new Failure("This is not a position of this log", { code: "invalid_position" });
  return { commit: BigInt(commit), prepare: BigInt(prepare) };
}
