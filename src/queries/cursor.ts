// What a client gives back to go on: opaque cursors of lists, the last item of a page, base64url-encoded; positions of the log.
import { z } from "zod";
import { Refused } from "../commands/refusals.ts";
import { isOwnPosition } from "../stores/event-store/foreign-position.ts";
import type { EventStore, Position } from "../stores/event-store/port.ts";
import type { FindQuery } from "../stores/read-store/port.ts";

type Place = NonNullable<FindQuery["after"]>;

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

/** Of items that were asked for with one more than `limit`: the page, and the cursor of the next one; null on the last page. */
export function pageOf<T>(
  items: readonly T[],
  limit: number,
  place: (last: T) => Place,
): { page: T[]; next: string | null } {
  const page = items.slice(0, limit);
  const last = page.at(-1);
  if (last === undefined || items.length <= limit) return { page, next: null };
  return { page, next: cursorOf(place(last)) };
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
