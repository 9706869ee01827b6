// Bodies of appends: the JSON array of their events, as text or compressed, and back into events.
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { messageOf } from "../../runtime/errors.ts";
import type { EventMetadata, NewEvent, RecordedEvent } from "../port.ts";
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

/** @throws TypeError when data or metadata are not plain JSON */
export function jsonOf(events: readonly NewEvent[]): string {
  return JSON.stringify(
    events.map(({ id, type, data, metadata }) => {
      if (JSON.stringify(data) === undefined) throw new TypeError(`Event ${type} ${id} has no data`);
      return { id, type, data, metadata };
    }),
  );
}

/** Level 1, as higher ones save two bytes of a hundred. */
export function compressed(json: string, dictionary: Uint8Array): Uint8Array {
  return zstdCompressSync(json, { dictionary, params: { [constants.ZSTD_c_compressionLevel]: 1 } });
}

/** Takes a body's text out of its row. @throws what zstd or a missing dictionary throw */
export type TextOf = (row: Pick<AppendRow, "dictionary" | "body">) => string;

export function bodyReader(dictionaries: () => ReadonlyMap<number, Uint8Array>): TextOf {
  return ({ dictionary, body }) => {
    if (typeof body === "string") return body;
    const bytes = dictionaries().get(dictionary ?? 0);
    if (!bytes) throw new Error(`there is no dictionary ${dictionary}`);
    return zstdDecompressSync(body, { dictionary: bytes }).toString();
  };
}

/**
 * The events of a row: as many as it counts, whatever its body holds. What can't be read is `unreadable`, for the reader
 * to set aside. `isChecked`: also what is not as `append` writes it, such as a name that stands twice in an object.
 */
export function eventsOfRow(row: AppendRow, textOf: TextOf, isChecked: boolean): RecordedEvent[] {
  const { stream, recorded_at: recordedAt, count } = row;
  const [position, revision] = [row.position - count + 1, row.revision - count + 1];
  const contents = contentsOf(row, textOf, isChecked);
  return Array.from({ length: count }, (_, n) => {
    const place = { stream, revision: revision + n, position: positionText(position + n), recordedAt };
    return typeof contents === "string"
      ? { ...unreadable(contents), ...place }
      : { ...contents[n], ...place };
  }) as RecordedEvent[];
}

/** What of an event its body holds; the reason, where none of it can be read. */
type Content = NewEvent & Pick<RecordedEvent, "unreadable">;

function contentsOf(row: AppendRow, textOf: TextOf, isChecked: boolean): Content[] | string {
  try {
    const text = textOf(row);
    const list: unknown = JSON.parse(text);
    if (!Array.isArray(list) || list.length !== row.count)
      return `the body of the append doesn't hold its ${row.count} events`;
    const contents = list.map(contentOf);
    if (isChecked && JSON.stringify(list) !== text) markChanged(list, contents, text);
    return contents;
  } catch (error) {
    return `the body of the append can't be read: ${messageOf(error)}`;
  }
}

function contentOf(item: unknown): Content {
  const { id, type, data, metadata } = (item ?? {}) as Partial<NewEvent>;
  const isEvent =
    typeof id === "string" && typeof type === "string" && data !== undefined && isObject(metadata);
  if (isEvent) return { id, type, data, metadata };
  const known = { id: typeof id === "string" ? id : "", type: typeof type === "string" ? type : "" };
  return { ...unreadable("it is no event with id, type, data and metadata"), ...known };
}

function isObject(value: unknown): value is EventMetadata {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unreadable(reason: string): Content {
  return { id: "", type: "", data: null, metadata: { schemaVersion: 0 }, unreadable: reason };
}

/** Those whose text is another than `append` made of them, and whatever stands between them. */
function markChanged(list: readonly unknown[], contents: Content[], text: string): void {
  let next = 1;
  for (const [n, content] of contents.entries()) {
    const written = JSON.stringify(list[n]);
    const at = text.indexOf(written, next);
    const isFirstAfterChange = n > 0 && contents[n - 1]?.unreadable !== undefined;
    if (at === next || (at > next && isFirstAfterChange)) next = at + written.length + 1;
    else contents[n] = { ...content, data: null, unreadable: "its JSON is not as it was written" };
  }
}
