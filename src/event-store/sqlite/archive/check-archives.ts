// Names archive files that are missing, or are not what was archived, and the events that are concerned.
import { join } from "node:path";
import type { LogProblem } from "../../log-archive.ts";
import { positionText } from "../positions.ts";
import { bytesAt, digestOf, isBlock } from "./archive-folder.ts";
import type { ArchiveRow, ArchiveTable } from "./archive-table.ts";
import { type ArchivedBatch, blockReference } from "./archived-body.ts";

/** Yields after each file. */
export function* archiveProblems(folder: string, table: ArchiveTable): Generator<LogProblem[]> {
  const rows = table.all();
  const byFile = Map.groupBy(table.archived(), ({ body }) => blockReference(body).file);
  for (const row of rows) yield fileProblems(folder, row, byFile.get(row.file) ?? [], table.eventsIn(row));
  const names = new Set(rows.map(({ file }) => file));
  yield [...byFile]
    .filter(([file]) => !names.has(file))
    .map(([file, batches]) => problem(file, batches.at(-1), "is not in the log's list of files"));
}

function fileProblems(
  folder: string,
  row: ArchiveRow,
  batches: readonly ArchivedBatch[],
  events: number,
): LogProblem[] {
  const { file } = row;
  const last = batches.at(-1) ?? { stream: "", last_revision: -1, ...row };
  const found: LogProblem[] = [];
  if (events !== row.events)
    found.push(problem(file, last, `has ${row.events} events, of which the log knows ${events}`));
  const path = join(folder, file);
  const digest = digestOf(path);
  if (digest === undefined) {
    const positions = `${positionText(row.first_position)} to ${positionText(row.last_position)}`;
    return [
      ...found,
      problem(file, last, `is missing, with ${row.events} events from position ${positions}`),
    ];
  }
  if (digest === row.sha256) return found;
  const damaged = batches.filter(({ body }) => {
    const reference = blockReference(body);
    return !isBlock(bytesAt(path, reference.offset, reference.bytes) ?? Buffer.alloc(0), reference);
  });
  for (const batch of damaged) {
    const { offset, bytes } = blockReference(batch.body);
    const where = `bytes ${offset} to ${offset + bytes - 1}, the ${batch.count} events up to here`;
    found.push(problem(file, batch, `is not what was archived: ${where}`));
  }
  if (damaged.length === 0) found.push(problem(file, last, "is not what was archived, behind its events"));
  return found;
}

function problem(
  file: string,
  at: Pick<ArchivedBatch, "stream" | "last_revision" | "last_position"> | undefined,
  what: string,
): LogProblem {
  const { stream = "", last_revision: revision = -1, last_position = 0 } = at ?? {};
  return { stream, revision, position: positionText(last_position), message: `archive/${file} ${what}` };
}
