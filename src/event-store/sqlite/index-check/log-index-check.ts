// Finds events of the SQLite log that readers miss: each event is found by columns and indexes beside it, which no seal
// binds, as they say nothing that the event itself doesn't say.
import type { DatabaseSync } from "node:sqlite";
import { inSnapshot } from "../../../connections/sqlite.ts";
import { ArchiveUnreadable, type LogProblem } from "../../log-archive.ts";
import type { LogIndexCheck } from "../../log-index-check.ts";
import type { Position, RecordedEvent } from "../../port.ts";
import { archiveFolder } from "../archive/archive-folder.ts";
import { BATCH_COLUMNS, type StoredBatch } from "../batch-schema.ts";
import { openLogFile } from "../log.ts";
import { positionText } from "../positions.ts";
import { categoryOf } from "../prefixes.ts";
import { DecodedBatches } from "../stored-batch.ts";

type Deps = { sleep: (ms: number) => Promise<void> };
type IndexedBatch = StoredBatch & { category: string };

/** Batches between two rests. */
const PAGE = 20;

/** `file`: of the log, with its tables. @throws SQLite's error when it can't be opened */
export function openLogIndexCheck(file: string, { sleep }: Deps): LogIndexCheck {
  const db = openLogFile(file, { readOnly: true });
  db.function("category_of", { deterministic: true }, (stream) => categoryOf(String(stream)));
  const rows = db.prepare(
    `SELECT stream, revision, position FROM events
     WHERE (position > ? AND category <> category_of(stream)) OR position < 1`,
  );
  const batches = db.prepare(
    `SELECT ${BATCH_COLUMNS}, category FROM segments WHERE last_position > ? ORDER BY last_position LIMIT ${PAGE}`,
  );
  const other = db.prepare(
    "SELECT last_position FROM segment_streams WHERE stream = ? AND last_revision = ?",
  );
  const isIndexed = (batch: IndexedBatch, { stream, revision }: RecordedEvent) =>
    batch.category === categoryOf(stream) &&
    (batch.stream === stream
      ? batch.last_revision === revision
      : other.get(stream, revision)?.last_position === batch.last_position);
  const decoded = new DecodedBatches(archiveFolder(file));

  return {
    async problems(after: Position | undefined) {
      const from = Number(after ?? 0);
      const found = rows.all(from).map((row) => {
        const { stream, revision, position } = row as { stream: string; revision: number; position: number };
        return { stream, revision, position: positionText(position), message: NOT_FOUND };
      });
      if (after === undefined) found.push(...damagedIndexes(db));
      for (let last = from; ; ) {
        const page = inSnapshot(db, () => {
          const some = batches.all(last) as IndexedBatch[];
          for (const batch of some) found.push(...problemsOf(decoded, batch, isIndexed));
          return some;
        });
        if (page.length < PAGE) return found;
        last = page.at(-1)?.last_position ?? last;
        await sleep(0);
      }
    },
    close: () => db.close(),
  };
}

const NOT_FOUND = "is filed wrongly in events.db: readers of its stream or category miss it";

function problemsOf(
  decoded: DecodedBatches,
  batch: IndexedBatch,
  isIndexed: (batch: IndexedBatch, event: RecordedEvent) => boolean,
): LogProblem[] {
  try {
    const lastOf = new Map(decoded.eventsOf(batch).map((event) => [event.stream, event]));
    const last = [...lastOf.values()].filter((event) => !isIndexed(batch, event));
    return last.map(({ stream, revision, position }) => ({ stream, revision, position, message: NOT_FOUND }));
  } catch (error) {
    // Files of the archive have a check of their own, which says what is wrong with them.
    if (error instanceof ArchiveUnreadable) return [];
    const place = { stream: batch.stream, revision: batch.last_revision };
    const message = `events.db is damaged: the ${batch.count} events up to here can't be read`;
    return [{ ...place, position: positionText(batch.last_position), message }];
  }
}

/** An index that lacks a row hides it from readers. */
function damagedIndexes(db: DatabaseSync): LogProblem[] {
  return db
    .prepare("PRAGMA integrity_check(10)")
    .all()
    .map(({ integrity_check: what }) => String(what))
    .filter((what) => what !== "ok")
    .map((what) => ({ stream: "", revision: -1, position: "", message: `events.db is damaged: ${what}` }));
}
