// Says in the caller's thread how far a category of streams goes, for who then need not ask the log's thread.
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Position } from "./port.ts";
import { positionText } from "./sqlite/positions.ts";
import { categoryOf } from "./sqlite/prefixes.ts";

export type NewestPositions = {
  /** Of the streams with a prefix that is a whole category; undefined when the file can't be read at the moment. */
  newestOf(prefix: string): Promise<Position | undefined>;
  close(): void;
};

/** The ends of two indexes, of pages that are nearly always in memory. */
const NEWEST = `
  SELECT position FROM (
    SELECT position FROM events WHERE category = ?1
    UNION ALL SELECT last_position FROM segments WHERE category = ?1
  ) ORDER BY position DESC LIMIT 1`;

/**
 * A log that exists, opened by the first call. Each call sees what any thread or process has committed: those of one turn
 * of the event loop share a read after all of them.
 */
export function newestPositions(file: string): NewestPositions {
  let db: DatabaseSync | undefined;
  let newest: StatementSync | undefined;
  const statement = () => {
    db ??= new DatabaseSync(file, { readOnly: true, timeout: 0 });
    newest ??= db.prepare(NEWEST);
    return newest;
  };
  const read = (prefix: string): Position | undefined => {
    try {
      const found = statement().get(categoryOf(prefix)) as { position: number } | undefined;
      return found ? positionText(found.position) : "";
    } catch {
      return undefined;
    }
  };
  const reading = new Map<string, Promise<Position | undefined>>();
  return {
    newestOf(prefix) {
      const known = reading.get(prefix);
      if (known) return known;
      const shared = new Promise<Position | undefined>((resolve) => {
        setImmediate(() => {
          reading.delete(prefix);
          resolve(read(prefix));
        });
      });
      reading.set(prefix, shared);
      return shared;
    },
    close: () => db?.close(),
  };
}
