// Names what differs between the events of a block and its seal.
import { type LogProblem, type Place, placeOf, type StreamPlace, unpackPlaces } from "./places.ts";
import { markOf, marksOf, type Seal } from "./seal.ts";

/** An event as it is now. */
export type Leaf = { place: Place; leaf: Buffer };

/**
 * By a seal that can be trusted. `present`: the events of its block, in order. `isExpected`: of a part of a block, which
 * sealed events must be there. Empty when all that is kept of single events is as it was.
 */
export function differences(
  seal: Seal,
  present: readonly Leaf[],
  isExpected: (place: StreamPlace) => boolean = () => true,
): LogProblem[] {
  const marks = marksOf(seal);
  const unmatched = new Map<string, number>();
  for (const { leaf } of present) add(unmatched, markOf(leaf), 1);
  const gone = new Map<string, StreamPlace>();
  for (const [n, place] of (unpackPlaces(seal.places, seal.events) ?? []).entries())
    if (!add(unmatched, marks[n] ?? "", -1)) gone.set(keyOf(place), place);
  const problems: LogProblem[] = [];
  for (const { place, leaf } of present.toReversed()) {
    if (!add(unmatched, markOf(leaf), -1)) continue;
    const wasChanged = gone.delete(keyOf(place));
    problems.push({ ...placeOf(place), message: wasChanged ? "was changed" : "was inserted" });
  }
  const removed = [...gone.values()].filter(isExpected);
  return [
    ...problems.reverse(),
    ...removed.map((place) => ({ ...place, position: "", message: "was removed" })),
  ];
}

/** Whether there was one to take, for `by` below zero. */
function add(counts: Map<string, number>, mark: string, by: 1 | -1): boolean {
  const count = (counts.get(mark) ?? 0) + by;
  if (count < 0) return false;
  counts.set(mark, count);
  return true;
}

function keyOf({ stream, revision }: StreamPlace): string {
  return `${revision}@${stream}`;
}
