// Says in the caller's thread how far a category of streams goes, for who then need not ask the log's thread.
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Position } from "../port.ts";
import { positionText } from "./positions.ts";

export type NewestPositions = {
  /** Undefined when the file can't be read at the moment. */
  newestOf(category: string): Promise<Position | undefined>;
  close(): void;
};

const NEWEST = "SELECT max(position) AS position FROM appends WHERE category = ?";

/**
 * A log that exists, opened by the first call. Each call sees what any thread or process has committed: those of one turn
 * of the event loop share a read after all of them.
 */
export function newestPositions(file: string): NewestPositions {
  let db: DatabaseSync | undefined;
  let newest: StatementSync | undefined;
  const read = (category: string): Position | undefined => {
    try {
      db ??= new DatabaseSync(file, { readOnly: true, timeout: 0 });
      newest ??= db.prepare(NEWEST);
      const { position } = newest.get(category) as { position: number | null };
      return position === null ? "" : positionText(position);
    } catch {
      return undefined;
    }
  };
  const reading = new Map<string, Promise<Position | undefined>>();
  return {
    newestOf(category) {
      const known = reading.get(category);
      if (known) return known;
      const shared = new Promise<Position | undefined>((resolve) => {
        setImmediate(() => {
          reading.delete(category);
          resolve(read(category));
        });
      });
      reading.set(category, shared);
      return shared;
    },
    close: () => db?.close(),
  };
}
