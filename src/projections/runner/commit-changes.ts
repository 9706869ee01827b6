// Folds what projections have taken and writes it, some documents at a time, and then how far they have come.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { BasicLogger } from "../../runtime/logging.ts";
import type { Checkpoint, ReadStore, WriteBatch } from "../../stores/read-store/port.ts";
import { COMMIT_RULES } from "./commit-batches.ts";
import type { DocumentWrites, ProjectionProcessor } from "./projection-processor.ts";

type CommitDeps = { readStore: Pick<ReadStore, "writeBatch">; log: Pick<BasicLogger, "error"> };

/** Of all projections, in one batch: few are in memory, and the store is not held up for long. */
const BATCH_DOCUMENTS = 500;
/** As of a backlog or a build: what is folded is written meanwhile. */
const LONG_COMMIT_EVENTS = COMMIT_RULES.maxEvents;
/** Of the events that a commit sets aside. */
const MOST_LOGGED = 10;
/** Batches that are written meanwhile. */
const MAX_IN_FLIGHT = 2;

/**
 * Up to some 500 documents of all projections and their checkpoints are one batch; of more, the last batch has the
 * checkpoints, and none of these is ahead of its documents. @throws what the read store throws
 */
export async function commitTaken(
  { readStore, log }: CommitDeps,
  processors: readonly ProjectionProcessor[],
): Promise<void> {
  const uncommitted = processors.filter(({ isUncommitted }) => isUncommitted);
  if (uncommitted.length === 0) return;
  const isMeanwhile = uncommitted.some(({ taken }) => taken >= LONG_COMMIT_EVENTS);
  const inFlight: Promise<void>[] = [];
  let batch = readStore.writeBatch();
  for (const processor of uncommitted) {
    for await (const changed of processor.fold()) {
      // Folding is synchronous: without this the thread would not report its status during a long commit.
      await yieldToLoop();
      if (batch.size >= BATCH_DOCUMENTS) {
        if (inFlight.length === MAX_IN_FLIGHT) await inFlight.shift();
        inFlight.push(written(batch.write({ checkpoints: {}, isMeanwhile })));
        batch = readStore.writeBatch();
      }
      addTo(batch, changed);
    }
  }
  await Promise.all(inFlight);
  await commitLast({ log }, uncommitted, batch);
}

export function addTo(batch: WriteBatch, changed: DocumentWrites): void {
  for (const { collection, documents } of changed) batch.add(collection, documents);
}

/** Is awaited later: until then a rejection isn't an unhandled one. */
function written(write: Promise<void>): Promise<void> {
  write.catch(() => undefined);
  return write;
}

/** The last batch. @throws what the read store throws */
export async function commitLast(
  { log }: Pick<CommitDeps, "log">,
  processors: readonly ProjectionProcessor[],
  batch: WriteBatch,
): Promise<void> {
  const checkpoints: Record<string, Checkpoint> = {};
  for (const processor of processors) checkpoints[processor.name] = processor.checkpoint();
  await batch.write({ checkpoints });
  for (const processor of processors) {
    const { name: projection, waitsFor } = processor;
    const setAside = processor.committed();
    for (const event of setAside.slice(0, MOST_LOGGED))
      log.error({ projection, ...event }, "an event can't be folded and was set aside");
    if (setAside.length > MOST_LOGGED)
      log.error({ projection, others: setAside.length - MOST_LOGGED }, "other events were set aside, too");
    if (waitsFor) log.error({ projection, ...waitsFor }, "projection waits for a newer program");
  }
}
