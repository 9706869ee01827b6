// What is kept of links with few hits on a closed UTC day: their rows again, in pages in which a link is found by its key. To sum
// a page takes a moment; to write a summary of each such link takes ten times the time and the space of its rows.
import type { CollectionSpec } from "../../../stores/read-store/port.ts";
import type { ChunkDocument } from "../click-tables/chunk.ts";
import { ChunkBuilder } from "../click-tables/chunk-builder.ts";
import type { AccountDayDocument } from "./account-day.ts";
import { type DayRows, isMarked, partOfPlace, rowOfPlace } from "./day-rows.ts";

/** As a chunk of the day's table, without marks. `_id`: of `quietPageId`; `_position`: of the account's day. */
export type QuietPageDocument = ChunkDocument;

export const quietLinks: CollectionSpec = { name: "quiet-links", indexes: [] };

/** A link with more rows on the day, or with one that is or was withdrawn, has a document in `link-days`. */
const MOST_ROWS = 20;
const ROWS_A_PAGE = 500;

export function isQuiet(rows: DayRows, places: readonly number[]): boolean {
  return places.length <= MOST_ROWS && !places.some((place) => isMarked(rows, place));
}

export function pagesFor(rows: number): number {
  return Math.ceil(rows / ROWS_A_PAGE);
}

/** Of the page with the link's rows, if it has any; undefined where the day has no page. */
export function quietPageId({ _id, quietPages }: QuietDay, link: string): string | undefined {
  return quietPages === 0 ? undefined : `${_id}/${hashOf(link) % quietPages}`;
}
type QuietDay = Pick<AccountDayDocument, "_id" | "quietPages">;

/** The range of `_id` of the day's pages. */
export function pagesOf({ _id }: Pick<AccountDayDocument, "_id">) {
  return { field: "_id", from: `${_id}/`, to: `${_id}/~` };
}

/** Of the links' rows, by their places in `rows`. */
export function* quietPages(
  account: QuietDay & Pick<AccountDayDocument, "_position" | "accountId" | "day">,
  rows: DayRows,
  links: ReadonlyMap<string, readonly number[]>,
): Generator<QuietPageDocument> {
  const byPage = new Map<string, number[]>();
  for (const [link, places] of links) {
    const id = quietPageId(account, link) as string;
    const ofPage = byPage.get(id);
    if (ofPage) for (const place of places) ofPage.push(place);
    else byPage.set(id, [...places]);
  }
  for (const [_id, places] of byPage) {
    const builder = new ChunkBuilder(account.accountId, account.day);
    // In the order of the log.
    for (const place of places.sort((a, b) => a - b))
      builder.addRow(partOfPlace(rows, place).chunk, rowOfPlace(place));
    yield { ...builder.document(), _id, _position: account._position };
  }
}

/** FNV-1a, of 32 bits. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let n = 0; n < text.length; n++) hash = Math.imul(hash ^ text.charCodeAt(n), 0x01000193);
  return hash >>> 0;
}
