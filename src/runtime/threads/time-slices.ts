// Lets a thread take its messages while it works at something long: an `await` of something settled doesn't.
import { setImmediate as yieldToLoop } from "node:timers/promises";

/** Half of the 20 ms that a message may wait, as a part of the work takes some milliseconds itself. */
const SLICE_MS = 10;

export type TimeSlices = {
  /** To be awaited between parts of the work. @throws the signal's reason when it has aborted */
  next(): Promise<void>;
  /** So far, in milliseconds, without the time in which others had the thread between two slices. */
  workedMs(): number;
};

export function timeSlices(signal?: AbortSignal): TimeSlices {
  let began = performance.now();
  let before = 0;
  const workedMs = () => before + performance.now() - began;
  return {
    workedMs,
    async next() {
      signal?.throwIfAborted();
      if (performance.now() - began < SLICE_MS) return;
      before = workedMs();
      await yieldToLoop();
      signal?.throwIfAborted();
      began = performance.now();
    },
  };
}

/** Items that are worked at together: requests that do so at once share appends, and hold the thread for some milliseconds. */
const AT_ONCE = 10;

/** The results in the order of the items, a few of which are worked at together. @throws what the work throws first */
export async function inSlices<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
): Promise<R[]> {
  const slices = timeSlices();
  const results: R[] = [];
  for (let start = 0; start < items.length; start += AT_ONCE) {
    const part = items.slice(start, start + AT_ONCE);
    results.push(...(await Promise.all(part.map((item, n) => work(item, start + n)))));
    await slices.next();
  }
  return results;
}
