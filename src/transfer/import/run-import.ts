// `linkledger import`, and lists that are pasted in the portal: reads what another service or a person wrote record by record,
// and says of each that fails why.
import { setImmediate } from "node:timers/promises";
import { Refused } from "../../commands/refusals.ts";
import { type TimeZone, UTC } from "../../queries/analytics/time-zone.ts";
import { namesOf, type Part, partsOf, refuseOtherFile } from "./import-parts.ts";
import type { ImportFormat } from "./imported.ts";
import type { ImportLinkDeps, ImportTarget } from "./place-imported.ts";
import type { Source } from "./reading/lines.ts";
import { readRows } from "./reading/read-rows.ts";
import type { RowOrError } from "./reading/row.ts";
import { type ImportedRow, rowTaker } from "./take-rows.ts";

/**
 * `clicks`: a file of their own. `encoding`: as of readRows. `zone`: of times without an offset. `onRow`: hears of each link, in
 * their order.
 */
type ImportFiles = {
  format: ImportFormat;
  links: Source;
  clicks: Source | undefined;
  onRow?: (row: ImportedRow) => void;
  encoding?: string | undefined;
  zone?: TimeZone | undefined;
};

/** `interrupted`: it was ended before the end of its files. */
export type ImportReport = Awaited<ReturnType<ReturnType<typeof rowTaker>["end"]>> & { interrupted?: true };

const ROWS_A_TURN = 20;
/** Whether the destinations of their links are safe is asked in one request. */
const ROWS_ASKED_TOGETHER = 500;

/**
 * A repeated import of the same, or of a later, export creates what is missing, also after one that `signal` has ended.
 * @throws wrong_format before anything is written, also where nothing is there; StoreUnavailable; RevisionConflict beside other imports of the
 * account
 */
export async function runImport(
  deps: ImportLinkDeps,
  target: ImportTarget,
  files: ImportFiles,
  onProgress: (bytes: number, total: number, records: number) => void = () => undefined,
  signal: AbortSignal = new AbortController().signal,
): Promise<ImportReport> {
  const { format, encoding } = files;
  const names = namesOf(format);
  const parts = partsOf(format, files.links, files.clicks);
  const read = new Map<Part, number>();
  const rowsOf = (part: Part) => {
    const onBytes = (bytes: number) => void read.set(part, bytes);
    return readRows(part.source, { names, encoding, onBytes, pages: part.pages, signal });
  };
  const withClicks = files.clicks !== undefined;
  const zone = files.zone ?? (format.hasLocalTimes ? undefined : UTC);
  const { take, end } = rowTaker(deps, target, { format, withClicks, zone, onRow: files.onRow });
  let count = 0;
  try {
    const openedParts: { part: Part; rows: AsyncIterable<RowOrError> }[] = [];
    for (const part of parts) openedParts.push({ part, rows: await refuseOtherFile(part, rowsOf(part)) });
    const sizes = await Promise.all(parts.map(({ source }) => source.size()));
    const total = sum(sizes);
    for (const { part, rows } of openedParts)
      for await (const batch of inBatches(rows, ROWS_ASKED_TOGETHER)) {
        for await (const _ of take(part, batch)) {
          signal.throwIfAborted();
          count += 1;
          onProgress(Math.min(total, sum(read.values())), total, count);
          // SQLite and rows in memory leave no turn to signals.
          if (count % ROWS_A_TURN === 0) await setImmediate();
        }
      }
  } catch (error) {
    if (signal.aborted) return { ...(await end(parts)), interrupted: true };
    throw error;
  }
  const report = await end(parts);
  if (report.links.read + report.clicks.read === 0)
    throw new Refused("wrong_format", `${files.links.name} has no links: there is nothing to import`);
  return report;
}

function sum(counts: Iterable<number>): number {
  let all = 0;
  for (const count of counts) all += count;
  return all;
}

/** Lists of at most so many. */
async function* inBatches<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    yield batch;
    batch = [];
  }
  if (batch.length > 0) yield batch;
}
