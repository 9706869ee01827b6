// Folds what projections have taken and writes it, some documents at a time, and then how far they have come.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { Logger } from "pino";
import type { Checkpoint, ReadStore } from "../../read-store/port.ts";
import type { ChangedDocuments, ProjectionProcessor } from "./projection-processor.ts";

type CommitDeps = { readStore: Pick<ReadStore, "commit">; log: Pick<Logger, "error"> };

/** Documents of a transaction, which takes some ten milliseconds. */
const MAX_DOCUMENTS = 1_000;

/**
 * Up to 1,000 documents of all projections and their checkpoints are one commit; of more, the last commit has the
 * checkpoints, and none of these is ahead of its documents. @throws what the read store throws
 */
export async function commitTaken(
  { readStore, log }: CommitDeps,
  processors: readonly ProjectionProcessor[],
): Promise<void> {
  const uncommitted = processors.filter(({ isUncommitted }) => isUncommitted);
  if (uncommitted.length === 0) return;
  let changed: ChangedDocuments = [];
  for (const processor of uncommitted) {
    for await (const slice of processor.fold()) {
      // Folding is synchronous: without this the thread would not report its status during a long commit.
      await yieldToLoop();
      if (countOf(changed) + countOf(slice) > MAX_DOCUMENTS) {
        await readStore.commit({ changed, checkpoints: {} });
        changed = [];
        await yieldToLoop();
      }
      changed = [...changed, ...slice];
    }
  }
  await commitLast({ readStore, log }, uncommitted, changed);
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
