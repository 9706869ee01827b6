// Run-length encodes the places of the events in a merged batch: the events of one append form one run.

/** The place of the first of `count` events in the log; the others follow it. */
export type PlacedRun = {
  position: number;
  stream: string;
  revision: number;
  recordedAt: string;
  count: number;
};

/**
 * Delta-encoded columns, which compress well. For each run: index of its stream, number of events, positions and
 * revisions (of its stream) skipped before it, milliseconds since the previous run. The first position, the first time
 * and each stream's first revision are relative to 0.
 */
export type Runs = {
  streams: string[];
  stream: number[];
  count: number[];
  positions: number[];
  revisions: number[];
  ms: number[];
};

/** `placed`: ordered by position. Runs that continue the one before become one with it. */
export function runsOf(placed: readonly PlacedRun[]): Runs {
  const runs: Runs = { streams: [], stream: [], count: [], positions: [], revisions: [], ms: [] };
  const next = newCursor();
  for (const { stream, revision, position, recordedAt, count } of placed) {
    const at = Date.parse(recordedAt);
    const known = runs.streams.indexOf(stream);
    const index = known < 0 ? runs.streams.push(stream) - 1 : known;
    const revisions = revision - (next.revision[index] ?? 0);
    const continues =
      index === next.stream && at === next.at && position === next.position && revisions === 0;
    const last = runs.count.length - 1;
    if (continues && last >= 0) runs.count[last] = (runs.count[last] ?? 0) + count;
    else {
      runs.stream.push(index);
      runs.count.push(count);
      runs.positions.push(position - next.position);
      runs.revisions.push(revisions);
      runs.ms.push(at - next.at);
    }
    Object.assign(next, { stream: index, position: position + count, at });
    next.revision[index] = revision + count;
  }
  return runs;
}

/** Decodes the runs, ordered by position. */
export function placedRuns(runs: Runs): PlacedRun[] {
  const next = newCursor();
  return runs.stream.map((index, n) => {
    const count = runs.count[n] ?? 0;
    const position = next.position + (runs.positions[n] ?? 0);
    const revision = (next.revision[index] ?? 0) + (runs.revisions[n] ?? 0);
    next.at += runs.ms[n] ?? 0;
    next.position = position + count;
    next.revision[index] = revision + count;
    const recordedAt = new Date(next.at).toISOString();
    return { stream: runs.streams[index] ?? "", revision, position, recordedAt, count };
  });
}

/** Base of the next run's differences; `revision`: next revision by stream index. */
function newCursor() {
  return { stream: -1, position: 0, at: 0, revision: [] as number[] };
}
