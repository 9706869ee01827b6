// Pages of lists, and what a client gives back to go on: opaque cursors, the last item of a page, base64url-encoded; positions of
// the log.
import { z } from "zod";
import { Refused } from "../commands/refusals.ts";
import { isOwnPosition } from "../stores/event-store/foreign-position.ts";
import type { EventStore, Position } from "../stores/event-store/port.ts";
import { placeIn } from "../stores/read-store/document-pages.ts";
import type { Document, FindQuery, ReadStore } from "../stores/read-store/port.ts";

type Place = NonNullable<FindQuery["after"]>;

/** `after` and `before`: cursors, of which `before` wins. */
export type PageRequest = { after?: string | undefined; before?: string | undefined; limit: number };

/** `next` and `previous`: cursors for `after` and `before`; null where there is nothing more. */
export type Page<T> = { page: T[]; next: string | null; previous: string | null };

/** The part of a query that begins behind the cursor, or at the start. `sorted`: by a text, or by a number. @throws invalid_cursor */
export function behindCursor(
  cursor: string | undefined,
  sorted: "text" | "number" = "text",
): Pick<FindQuery, "after"> {
  if (cursor === undefined) return {};
  try {
    const Cursor = z.tuple([sorted === "text" ? z.string() : z.number(), z.string()]);
    const [value, id] = Cursor.parse(JSON.parse(Buffer.from(cursor, "base64url").toString("utf8")));
    return { after: { value, id } };
  } catch {
    throw new Refused("invalid_cursor");
  }
}

/** Of items that were asked for with one more than `limit`, in the opposite order where the page is `before` a cursor. */
export function pageOf<T>(
  items: readonly T[],
  { after, before, limit }: PageRequest,
  place: (item: T) => Place,
): Page<T> {
  const isBack = before !== undefined;
  const page = items.slice(0, limit);
  if (isBack) page.reverse();
  const [first, last] = [page.at(0), page.at(-1)];
  const isMore = items.length > limit;
  return {
    page,
    next: last && (isBack || isMore) ? cursorOf(place(last)) : null,
    previous: first && (isBack ? isMore : after !== undefined) ? cursorOf(place(first)) : null,
  };
}

/** Documents in the order of the query, which is by a text. @throws invalid_cursor */
export async function readPage<D extends Document>(
  readStore: Pick<ReadStore, "find">,
  collection: string,
  query: Omit<FindQuery, "after" | "limit"> & Required<Pick<FindQuery, "sort">>,
  request: PageRequest,
): Promise<Page<D>> {
  const { after, before, limit } = request;
  const { field, direction } = query.sort;
  const opposite = direction === "asc" ? "desc" : "asc";
  const documents = await readStore.find<D>(collection, {
    ...query,
    sort: { field, direction: before === undefined ? direction : opposite },
    ...behindCursor(before ?? after),
    limit: limit + 1,
  });
  return pageOf(documents, request, (document) => placeIn(document, field));
}

export function cursorOf({ value, id }: Place): string {
  return Buffer.from(JSON.stringify([value, id])).toString("base64url");
}

/**
 * Refuses a position that isn't of this log: a feed that continues there would pass over events, and an export would be
 * empty. @throws invalid_position, StoreUnavailable
 */
export async function refuseForeignPosition(
  deps: { eventStore: Pick<EventStore, "head"> },
  position: Position,
): Promise<void> {
  if (!(await isOwnPosition(deps, position))) throw new Refused("invalid_position");
}
