// Writes what projections have changed in memory, and how far they have come: in one transaction, or a slice at a time.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { Logger } from "pino";
import type { Checkpoint, ReadStore } from "../../read-store/port.ts";
import type { ProjectionProcessor } from "./projection-processor.ts";

type CommitDeps = { readStore: Pick<ReadStore, "commit">; log: Pick<Logger, "error"> };

/** A transaction of some ten milliseconds. */
const SLICE_DOCUMENTS = 1_000;

/** All projections in one commit: a transaction less for each, where the store has transactions. */
export async function commitAtOnce(
  deps: CommitDeps,
  processors: readonly ProjectionProcessor[],
): Promise<void> {
  const uncommitted = uncommittedOf(processors);
  if (uncommitted.length === 0) return;
  const changed = uncommitted.flatMap((processor) => processor.changed());
  await deps.readStore.commit({ changed, checkpoints: checkpointsOf(uncommitted) });
  committed(deps, uncommitted);
}

/**
 * The documents first, some at a time, as others write to the store meanwhile; then the checkpoints. In the order of
 * their ids, so that a slice changes few pages of an index.
 */
export async function commitInSlices(
  deps: CommitDeps,
  processors: readonly ProjectionProcessor[],
): Promise<void> {
  const uncommitted = uncommittedOf(processors);
  if (uncommitted.length === 0) return;
  for (const processor of uncommitted) {
    for (const { collection, documents } of processor.changed()) {
      const sorted = documents.toSorted((a, b) => (a._id < b._id ? -1 : 1));
      for (let at = 0; at < sorted.length; at += SLICE_DOCUMENTS) {
        const slice = { collection, documents: sorted.slice(at, at + SLICE_DOCUMENTS) };
        await deps.readStore.commit({ changed: [slice], checkpoints: {} });
        await yieldToLoop();
      }
    }
  }
  await deps.readStore.commit({ changed: [], checkpoints: checkpointsOf(uncommitted) });
  committed(deps, uncommitted);
}

function uncommittedOf(processors: readonly ProjectionProcessor[]): ProjectionProcessor[] {
  return processors.filter(({ isUncommitted }) => isUncommitted);
}

function checkpointsOf(processors: readonly ProjectionProcessor[]): Record<string, Checkpoint> {
  return Object.fromEntries(processors.map((processor) => [processor.name, processor.checkpoint()]));
}

function committed({ log }: CommitDeps, processors: readonly ProjectionProcessor[]): void {
  for (const processor of processors) {
    const { name, fault } = processor;
    processor.committed();
    if (fault) log.error({ projection: name, ...fault }, "projection faulted");
  }
}
