// Bodies of appends: the JSON array of their events, as text or compressed, and back into events.
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { messageOf } from "../../../runtime/errors.ts";
import { isObject } from "../../../runtime/is-object.ts";
import { plainJson } from "../plain-json.ts";
import type { NewEvent, Position, RecordedEvent, StoredText } from "../port.ts";

/** A row of the table `appends`; `position` and `revision`: of its last event. */
export type AppendRow = {
  position: number;
  stream: string;
  revision: number;
  count: number;
  recorded_at: string;
  dictionary: number | null;
  body: string | Uint8Array;
};

const DIGITS = 20;

export function positionText(position: number): Position {
  return String(position).padStart(DIGITS, "0");
}

/** By number. */
export type Dictionaries = ReadonlyMap<number, Uint8Array>;

/** @throws TypeError when data or metadata are not plain JSON */
export function jsonOf(events: readonly NewEvent[]): string {
  for (const { id, type, data } of events)
    if (data === undefined) throw new TypeError(`Event ${type} ${id} has no data`);
  return plainJson(events.map(({ id, type, data, metadata }) => ({ id, type, data, metadata })));
}

/**
 * One frame. Level 1, as higher ones save two bytes of a hundred. In one piece, larger than any frame of the text can be
 * (ZSTD_COMPRESSBOUND): where a frame ends exactly at the end of a piece, Node writes an empty frame behind it, which
 * textOf would take for bytes that somebody has put there.
 */
export function compressed(json: string, dictionary: Uint8Array): Uint8Array {
  const bytes = Buffer.byteLength(json);
  const chunkSize = bytes + (bytes >> 8) + 128;
  return zstdCompressSync(json, {
    dictionary,
    chunkSize,
    params: { [constants.ZSTD_c_compressionLevel]: 1 },
  });
}

/** With `info`, which its types don't know. */
type Decompressed = { buffer: Buffer; engine: { bytesWritten: number } };

/** @throws what zstd or a missing dictionary throw, and for bytes behind the frame, which other programs would read */
function textOf({ dictionary, body }: AppendRow, dictionaries: Dictionaries): string {
  if (typeof body === "string") return body;
  const bytes = dictionaries.get(dictionary ?? 0);
  if (!bytes) throw new Error(`there is no dictionary ${dictionary}`);
  const options = { dictionary: bytes, info: true };
  const { buffer, engine } = zstdDecompressSync(body, options) as unknown as Decompressed;
  if (engine.bytesWritten !== body.length) throw new Error("there are bytes behind its end");
  return buffer.toString();
}

/** `texts`: made of the same events. */
export type RowAsRead = { events: RecordedEvent[]; texts(): StoredText[] };

/** The events of a row: as many as it counts, whatever its body holds. What can't be read is `unreadable`. */
export function readRow(row: AppendRow, dictionaries: Dictionaries): RowAsRead {
  try {
    const body = textOf(row, dictionaries);
    const events = eventsOf(body, row);
    return { events, texts: () => textsOf(events, body) };
  } catch (error) {
    const events = unreadableRow(row, error);
    return { events, texts: () => events.map(storedText) };
  }
}

/** @throws for what is not the JSON array of the row's events */
function eventsOf(body: string, row: AppendRow): RecordedEvent[] {
  const list: unknown = JSON.parse(body);
  if (!Array.isArray(list) || list.length !== row.count)
    throw new Error(`it doesn't hold ${row.count} events`);
  return list.map((item, n) => eventOf(item, row, n));
}

function unreadableRow(row: AppendRow, error: unknown): RecordedEvent[] {
  const reason = `the body of the append can't be read: ${messageOf(error)}`;
  return Array.from({ length: row.count }, (_, n) => unreadable(row, n, reason));
}

/** The n-th event of the row. */
function eventOf(item: unknown, row: AppendRow, n: number): RecordedEvent {
  const { id, type, data, metadata } = (item ?? {}) as Partial<NewEvent>;
  if (typeof id === "string" && typeof type === "string" && data !== undefined && isObject(metadata))
    return { id, type, data, metadata, ...placeOf(row, n) };
  const readable = { ...(typeof id === "string" && { id }), ...(typeof type === "string" && { type }) };
  return { ...unreadable(row, n, "it is no event with id, type, data and metadata"), ...readable };
}

function unreadable(row: AppendRow, n: number, reason: string): RecordedEvent {
  const nothing = { id: "", type: "", data: null, metadata: { schemaVersion: 0 } };
  return { ...nothing, ...placeOf(row, n), unreadable: reason };
}

function placeOf({ stream, revision, position, count, recorded_at: recordedAt }: AppendRow, n: number) {
  const behind = count - 1 - n;
  return { stream, revision: revision - behind, position: positionText(position - behind), recordedAt };
}

/**
 * Whatever `append` would not have written so is `unreadable`, such as a name that stands twice in an object, of which another
 * parser may take the other value; all of them, where the body differs only around them.
 */
function textsOf(events: readonly RecordedEvent[], body: string): StoredText[] {
  let next = 1;
  let isLost = false;
  let isWritten = body.startsWith("[");
  const texts = events.map((event, n) => {
    const text = storedText(event);
    const member = memberOf(text);
    const isNext = body.slice(next, next + member.length) === member;
    // Behind a changed event, whose length is not known, the next one may begin anywhere.
    const at = isLost && !isNext ? body.indexOf(member, next) : next;
    const isAsWritten = isNext || (isLost && at > next);
    if (isAsWritten) next = at + member.length + 1;
    isLost = !isAsWritten;
    isWritten &&= isNext && body[next - 1] === (n + 1 < events.length ? "," : "]");
    return isAsWritten ? text : changed(text);
  });
  if (isWritten && next === body.length) return texts;
  return texts.some(({ unreadable }) => unreadable !== undefined) ? texts : texts.map(changed);
}

function storedText({ data, metadata, ...event }: RecordedEvent): StoredText {
  if (event.unreadable !== undefined) return { ...event, data: "", metadata: "" };
  return { ...event, data: JSON.stringify(data), metadata: JSON.stringify(metadata) };
}

/** As `jsonOf` writes it. */
function memberOf({ id, type, data, metadata }: StoredText): string {
  return `{"id":${JSON.stringify(id)},"type":${JSON.stringify(type)},"data":${data},"metadata":${metadata}}`;
}

function changed(text: StoredText): StoredText {
  return { unreadable: "its JSON is not as it was written", ...text, data: "", metadata: "" };
}
