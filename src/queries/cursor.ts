// Opaque cursors of lists: the last item of a page, base64url-encoded.
import type { FindQuery } from "../read-store/port.ts";
import { InvalidCursor } from "./errors.ts";

type Place = NonNullable<FindQuery["after"]>;

export function cursorOf({ value, id }: Place): string {
  return Buffer.from(JSON.stringify([value, id])).toString("base64url");
}

/** `type`: of the field that the list is sorted by. @throws InvalidCursor */
export function placeOf(cursor: string, type: "string" | "number"): Place {
  try {
    const parsed: unknown = JSON.parse(Buffer.from(cursor, "base64url").toString("utf8"));
    if (Array.isArray(parsed) && parsed.length === 2) {
      const [value, id] = parsed as unknown[];
      const fits = (typeof value === "string" || typeof value === "number") && typeof value === type;
      if (fits && typeof id === "string") return { value, id };
    }
  } catch {
    // Not JSON: invalid like a wrong shape.
  }
  throw new InvalidCursor();
}
