// Opaque cursors of lists: the last item of a page, base64url-encoded.
import type { FindQuery } from "../read-store/port.ts";
import { Refused } from "../runtime/refused.ts";

type Place = NonNullable<FindQuery["after"]>;

/** Of a search behind the cursor, or from the start, that is sorted by a text. @throws invalid_cursor */
export function behindCursor(cursor: string | undefined): Pick<FindQuery, "after"> {
  return cursor === undefined ? {} : { after: placeOf(cursor) };
}

/** Of what was found with one more than `limit`: the page, and the cursor of the next one; null on the last page. */
export function pageOf<T>(
  found: readonly T[],
  limit: number,
  place: (last: T) => Place,
): { page: T[]; next: string | null } {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  return { page, next: last !== undefined && found.length > limit ? cursorOf(place(last)) : null };
}

function cursorOf({ value, id }: Place): string {
  return Buffer.from(JSON.stringify([value, id])).toString("base64url");
}

/** @throws invalid_cursor */
function placeOf(cursor: string): Place {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(parsed) && parsed.length === 2) {
      const [value, id] = parsed as unknown[];
      if (typeof value === "string" && typeof id === "string") return { value, id };
    }
  } catch {
    // Not JSON: invalid like a wrong shape.
  }
  throw new Refused("invalid_cursor");
}
