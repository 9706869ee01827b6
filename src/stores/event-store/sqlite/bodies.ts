// Bodies of appends: the JSON array of their events, as text or compressed, and back into events.
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { messageOf } from "../../../runtime/errors.ts";
import { isObject } from "../../../runtime/is-object.ts";
import { plainJson } from "../plain-json.ts";
import type { NewEvent, RecordedEvent } from "../port.ts";
import { positionText } from "./positions.ts";

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

/** By number. */
export type Dictionaries = ReadonlyMap<number, Uint8Array>;

/** @throws TypeError when data or metadata are not plain JSON */
export function jsonOf(events: readonly NewEvent[]): string {
  for (const { id, type, data } of events)
    if (data === undefined) throw new TypeError(`Event ${type} ${id} has no data`);
  return plainJson(events.map(({ id, type, data, metadata }) => ({ id, type, data, metadata })));
}

/** Level 1, as higher ones save two bytes of a hundred. */
export function compressed(json: string, dictionary: Uint8Array): Uint8Array {
  return zstdCompressSync(json, { dictionary, params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

/** @throws what zstd or a missing dictionary throw */
function textOf({ dictionary, body }: AppendRow, dictionaries: Dictionaries): string {
  if (typeof body === "string") return body;
  const bytes = dictionaries.get(dictionary ?? 0);
  if (!bytes) throw new Error(`there is no dictionary ${dictionary}`);
  return zstdDecompressSync(body, { dictionary: bytes }).toString();
}

/**
 * The events of a row: as many as it counts, whatever its body holds. What can't be read is `unreadable`, for the reader
 * to set aside. `isChecked`: also what is not as `append` writes it, such as a name that stands twice in an object.
 */
export function eventsOfRow(row: AppendRow, dictionaries: Dictionaries, isChecked: boolean): RecordedEvent[] {
  try {
    const text = textOf(row, dictionaries);
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list) || list.length !== row.count)
      return unreadableRow(row, `the body of the append doesn't hold its ${row.count} events`);
    const events = list.map((item, n) => eventOf(item, row, n));
    if (isChecked && JSON.stringify(list) !== text) markChanged(list, events, text);
    return events;
  } catch (error) {
    return unreadableRow(row, `the body of the append can't be read: ${messageOf(error)}`);
  }
}

function unreadableRow(row: AppendRow, reason: string): RecordedEvent[] {
  return Array.from({ length: row.count }, (_, n) => unreadable(row, n, reason));
}

/** The n-th event of the row. */
function eventOf(item: unknown, row: AppendRow, n: number): RecordedEvent {
  const { id, type, data, metadata } = (item ?? {}) as Partial<NewEvent>;
  if (typeof id === "string" && typeof type === "string" && data !== undefined && isObject(metadata))
    return { id, type, data, metadata, ...placeOf(row, n) };
  const known = { ...(typeof id === "string" && { id }), ...(typeof type === "string" && { type }) };
  return { ...unreadable(row, n, "it is no event with id, type, data and metadata"), ...known };
}

function unreadable(row: AppendRow, n: number, reason: string): RecordedEvent {
  const nothing = { id: "", type: "", data: null, metadata: { schemaVersion: 0 } };
  return { ...nothing, ...placeOf(row, n), unreadable: reason };
}

function placeOf({ stream, revision, position, count, recorded_at: recordedAt }: AppendRow, n: number) {
  const behind = count - 1 - n;
  return { stream, revision: revision - behind, position: positionText(position - behind), recordedAt };
}

/** Those whose text is another than `append` made of them, and whatever stands between them. */
function markChanged(list: readonly unknown[], events: RecordedEvent[], text: string): void {
  let next = 1;
  let isResuming = false;
  for (const [n, event] of events.entries()) {
    const written = JSON.stringify(list[n]);
    const at = text.indexOf(written, next);
    const isAsWritten: boolean = at === next || (at > next && isResuming);
    if (isAsWritten) next = at + written.length + 1;
    else events[n] = { ...event, data: null, unreadable: "its JSON is not as it was written" };
    isResuming = !isAsWritten;
  }
}
