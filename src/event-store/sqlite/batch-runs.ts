// Where the events of a merged segment stand: what came in one append is a run of revisions, positions and one time.

/** An event's place in the log. */
export type EventPlace = { position: number; stream: string; revision: number; recordedAt: string };

/**
 * Column by column, and differences instead of numbers, which compress to next to nothing. By run: which stream, how
 * many events, how many positions and revisions (of its stream) were skipped before it, milliseconds since the run
 * before. A stream's first revision, the first position and the first time count from 0.
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
    const goesOn = index === next.stream && at === next.at && position === next.position && revisions === 0;
    const last = runs.count.length - 1;
    if (goesOn && last >= 0) runs.count[last] = (runs.count[last] ?? 0) + 1;
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

/** In the order of their positions. */
export function placesOf(runs: Runs): EventPlace[] {
  const places: EventPlace[] = [];
  const next = newCursor();
  for (const [n, index] of runs.stream.entries()) {
    next.position += runs.positions[n] ?? 0;
    next.at += runs.ms[n] ?? 0;
    const stream = runs.streams[index] ?? "";
    const recordedAt = new Date(next.at).toISOString();
    let revision = (next.revision[index] ?? 0) + (runs.revisions[n] ?? 0);
    for (let left = runs.count[n] ?? 0; left > 0; left--)
      places.push({ stream, revision: revision++, position: next.position++, recordedAt });
    next.revision[index] = revision;
  }
  return places;
}

/** What the next run starts from; `revision`: by stream. */
function newCursor() {
  return { stream: -1, position: 0, at: 0, revision: [] as number[] };
}
