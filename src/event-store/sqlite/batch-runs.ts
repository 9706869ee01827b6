// Run-length encodes the places of the events in a merged batch: the events of one append form one run.

/** An event's place in the log. */
export type EventPlace = { position: number; stream: string; revision: number; recordedAt: string };

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

export function runsOf(places: readonly EventPlace[]): Runs {
  const runs: Runs = { streams: [], stream: [], count: [], positions: [], revisions: [], ms: [] };
  const next = newCursor();
  for (const { stream, revision, position, recordedAt } of places) {
    const at = Date.parse(recordedAt);
    const known = runs.streams.indexOf(stream);
    const index = known < 0 ? runs.streams.push(stream) - 1 : known;
    const revisions = revision - (next.revision[index] ?? 0);
    const continues =
      index === next.stream && at === next.at && position === next.position && revisions === 0;
    const last = runs.count.length - 1;
    if (continues && last >= 0) runs.count[last] = (runs.count[last] ?? 0) + 1;
    else {
      runs.stream.push(index);
      runs.count.push(1);
      runs.positions.push(position - next.position);
      runs.revisions.push(revisions);
      runs.ms.push(at - next.at);
    }
    Object.assign(next, { stream: index, position: position + 1, at });
    next.revision[index] = revision + 1;
  }
  return runs;
}

/** Decodes the places, ordered by position. */
export function placesOf(runs: Runs): EventPlace[] {
  const places: EventPlace[] = [];
  const next = newCursor();
  for (const [n, index] of runs.stream.entries()) {
    next.position += runs.positions[n] ?? 0;
    next.at += runs.ms[n] ?? 0;
    const stream = runs.streams[index] ?? "";
    const recordedAt = new Date(next.at).toISOString();
    let revision = (next.revision[index] ?? 0) + (runs.revisions[n] ?? 0);
    for (let remaining = runs.count[n] ?? 0; remaining > 0; remaining--)
      places.push({ stream, revision: revision++, position: next.position++, recordedAt });
    next.revision[index] = revision;
  }
  return places;
}

/** Base of the next run's differences; `revision`: next revision by stream index. */
function newCursor() {
  return { stream: -1, position: 0, at: 0, revision: [] as number[] };
}
