// Folds what projections have taken and writes it, some documents at a time, and then how far they have come.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { Logger } from "pino";
import type { Checkpoint, ReadStore } from "../../read-store/port.ts";
import { COMMIT_RULES } from "./commit-batches.ts";
import { type ChangedDocuments, type ProjectionProcessor, SLICE_DOCUMENTS } from "./projection-processor.ts";

type CommitDeps = { readStore: Pick<ReadStore, "commit">; log: Pick<Logger, "error"> };

/** As of a backlog or a build: what is folded is written meanwhile. */
const LONG_COMMIT_EVENTS = COMMIT_RULES.maxEvents;
/** Transactions that are written meanwhile. */
const MAX_IN_FLIGHT = 2;

/**
 * Up to 500 documents of all projections and their checkpoints are one commit; of more, the last commit has the
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
  let changed: ChangedDocuments = [];
  for (const processor of uncommitted) {
    for await (const slice of processor.fold()) {
      // Folding is synchronous: without this the thread would not report its status during a long commit.
      await yieldToLoop();
      if (countOf(changed) + countOf(slice) > SLICE_DOCUMENTS) {
        if (inFlight.length === MAX_IN_FLIGHT) await inFlight.shift();
        inFlight.push(written(readStore.commit({ changed, checkpoints: {}, isMeanwhile })));
        changed = [];
        await yieldToLoop();
      }
      changed = [...changed, ...slice];
    }
  }
  await Promise.all(inFlight);
  await commitLast({ readStore, log }, uncommitted, changed);
}

/** Is awaited later: until then a rejection isn't an unhandled one. */
function written(commit: Promise<void>): Promise<void> {
  commit.catch(() => undefined);
  return commit;
}

/** The last commit. @throws what the read store throws */
export async function commitLast(
  { readStore, log }: CommitDeps,
  processors: readonly ProjectionProcessor[],
  changed: ChangedDocuments,
): Promise<void> {
  const checkpoints: Record<string, Checkpoint> = {};
  for (const processor of processors) checkpoints[processor.name] = processor.checkpoint();
  await readStore.commit({ changed, checkpoints });
  for (const processor of processors) {
    const { name, fault } = processor;
    processor.committed();
    if (fault) log.error({ projection: name, ...fault }, "projection faulted");
  }
}

function countOf(changed: ChangedDocuments): number {
  return changed.reduce((sum, { documents }) => sum + documents.length, 0);
}
