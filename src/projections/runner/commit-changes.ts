// Writes what projections have changed in memory, and how far they have come: some documents a transaction, then the
// checkpoints.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { Logger } from "pino";
import type { Checkpoint, Document, ProjectionCommit, ReadStore } from "../../read-store/port.ts";
import type { ProjectionProcessor } from "./projection-processor.ts";

type CommitDeps = { readStore: Pick<ReadStore, "commit">; log: Pick<Logger, "error"> };
type Changed = ProjectionCommit["changed"];

/** A transaction of some twenty milliseconds, as others write to the store and fold in this thread meanwhile. */
const SLICE_DOCUMENTS = 1_000;

/** All projections in one transaction where they have changed few documents, else a slice at a time. */
export async function commitChanges(
  deps: CommitDeps,
  processors: readonly ProjectionProcessor[],
): Promise<void> {
  const uncommitted = processors.filter(({ isUncommitted }) => isUncommitted);
  const changed = uncommitted.map((processor) => ({
    collection: processor.projection.collection.name,
    documents: processor.changed(),
  }));
  const slices = slicesOf(changed);
  const last = slices.pop() ?? [];
  for (const slice of slices) {
    await deps.readStore.commit({ changed: slice, checkpoints: {} });
    await yieldToLoop();
  }
  await deps.readStore.commit({ changed: last, checkpoints: checkpointsOf(uncommitted) });
  committed(deps, uncommitted);
}

/**
 * In the order of their keys, so that a slice changes few pages of an index, and that the documents of a link, which are
 * answered together, are in one slice or in two that follow each other.
 */
function slicesOf(changed: Changed): Changed[] {
  const count = changed.reduce((sum, { documents }) => sum + documents.length, 0);
  if (count <= SLICE_DOCUMENTS) return [changed];
  const rows = changed.flatMap(({ documents }, of) =>
    documents.map((document) => ({ of, document, key: keyOf(document) })),
  );
  rows.sort((a, b) => (a.key < b.key ? -1 : 1));
  const slices: Changed[] = [];
  for (let at = 0; at < rows.length; at += SLICE_DOCUMENTS) {
    const slice = rows.slice(at, at + SLICE_DOCUMENTS);
    const documentsOf = (of: number) => slice.filter((row) => row.of === of).map(({ document }) => document);
    slices.push(changed.map(({ collection }, of) => ({ collection, documents: documentsOf(of) })));
  }
  return slices;
}

/** Sorts a day, `<link>@YYYY-MM-DD`, beside its link, and not behind another link whose name begins alike. */
function keyOf({ _id }: Document): string {
  return `${_id}@`;
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
