// Writes the batches of a day into an archive file, block by block, without changing the log.
import type { ArchivableDay, SealRange } from "../../log-archive.ts";
import type { PlacedRun } from "../batch-runs.ts";
import type { BatchRange } from "../batch-tail.ts";
import type { BatchWriter } from "../batch-writer.ts";
import { joinedParts } from "../stored-batch.ts";
import { ArchiveFileWriter } from "./archive-file.ts";
import type { ListedBatch } from "./archive-table.ts";
import { blockOf } from "./block.ts";

/** A block is smaller for each event the more it has, and a read of a single event decodes all of it. */
const BLOCK_EVENTS = 4_096;
const BLOCK_BYTES = 1_000_000;

export type ArchiveSource = {
  category: string;
  day: ArchivableDay["day"];
  batches: readonly ListedBatch[];
  seals: SealRange;
  log: Pick<BatchWriter, "between">;
};

export type WrittenArchive = {
  writer: ArchiveFileWriter;
  from: number;
  to: number;
  events: number;
  bytes: number;
  sha256: string;
};

/** `first`, `last`: positions of the last events of the first and the last batch. */
type DayOfBatches = { day: string; first: number; last: number; events: number; bytes: number };

/** Days of batches in their order, up to the first batch that was recorded at or after a time. */
export function daysOf(batches: Iterable<ListedBatch>, before: Date): DayOfBatches[] {
  const days: DayOfBatches[] = [];
  for (const { last_position: last, count, recorded_at, bytes } of batches) {
    if (recorded_at >= before.toISOString()) break;
    const day = recorded_at.slice(0, 10);
    const known = days.at(-1);
    if (known?.day !== day) days.push({ day, first: last, last, events: count, bytes });
    else Object.assign(known, { last, events: known.events + count, bytes: known.bytes + bytes });
  }
  return days;
}

/** Yields the number of events so far after each block, and returns the file, which has its name once it is published. */
export function* writeArchive(path: string, source: ArchiveSource): Generator<number, WrittenArchive> {
  const { category, day, seals } = source;
  const writer = new ArchiveFileWriter(path);
  try {
    const revisions = new Map<string, { from: number; to: number }>();
    let [from, to, events] = [Number.POSITIVE_INFINITY, 0, 0];
    for (const range of blocksOf(source.batches, category)) {
      const parts = joinedParts(source.log.between(range));
      const first = parts.runs[0]?.position ?? 0;
      const count = parts.parts.reduce((sum, part) => sum + part.count, 0);
      writer.add(blockOf(parts), { from: first, to: range.to, events: count });
      for (const run of parts.runs) addRevisions(revisions, run);
      [from, to, events] = [Math.min(from, first), range.to, events + count];
      yield events;
    }
    const streams = [...revisions].map(([stream, range]) => ({ stream, ...range }));
    return {
      writer,
      from,
      to,
      events,
      ...writer.finish({ category, day, from, to, events, streams, seals }),
    };
  } catch (error) {
    writer.discard();
    throw error;
  }
}

/** Consecutive batches of the category, as a block can't have events of another one between its own. */
function blocksOf(batches: readonly ListedBatch[], category: string): BatchRange[] {
  const blocks: BatchRange[] = [];
  let [events, bytes] = [0, 0];
  let isOpen = false;
  for (const batch of batches) {
    events += batch.count;
    bytes += batch.bytes;
    const isOther = batch.category !== category;
    if (isOther || events > BLOCK_EVENTS || bytes > BLOCK_BYTES) isOpen = false;
    if (isOther) continue;
    const block = blocks.at(-1);
    if (isOpen && block) block.to = batch.last_position;
    else {
      blocks.push({ from: batch.last_position, to: batch.last_position });
      [isOpen, events, bytes] = [true, batch.count, batch.bytes];
    }
  }
  return blocks;
}

function addRevisions(streams: Map<string, { from: number; to: number }>, run: PlacedRun): void {
  const to = run.revision + run.count - 1;
  const known = streams.get(run.stream);
  if (known) known.to = to;
  else streams.set(run.stream, { from: run.revision, to });
}
