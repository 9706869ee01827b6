// Lets a thread take its messages while it works at something long: an `await` of something settled doesn't.
import { setImmediate as yieldToLoop } from "node:timers/promises";

/** Half of the 20 ms that a message may wait, as a part of the work takes some milliseconds itself. */
const SLICE_MS = 10;

/** Who works in a thread goes on in turns: one in each turn of the event loop, so that messages wait for one slice, not for all. */
export type Turns = {
  /** Whether the present one is over. */
  readonly isOver: boolean;
  next(): Promise<void>;
};

export function takeTurns(): Turns {
  let began = performance.now();
  let last: Promise<unknown> = Promise.resolve();
  return {
    get isOver() {
      return performance.now() - began >= SLICE_MS;
    },
    async next() {
      last = last.then(() => yieldToLoop());
      await last;
      began = performance.now();
    },
  };
}

export type TimeSlices = {
  /** To be awaited between parts of the work. @throws the signal's reason when it has aborted */
  next(): Promise<void>;
  /** So far, in milliseconds, without the time in which others had the thread between two slices. */
  workedMs(): number;
};

/** Makes those of a piece of work, which ends when its signal aborts. */
export type SliceWork = (signal?: AbortSignal) => TimeSlices;

/** Of one piece of work; `turns`: of all work that the thread does in slices, if there is more. */
export function timeSlices(signal?: AbortSignal, turns: Turns = takeTurns()): TimeSlices {
  let began = performance.now();
  let before = 0;
  const workedMs = () => before + performance.now() - began;
  return {
    workedMs,
    async next() {
      signal?.throwIfAborted();
      if (!turns.isOver) return;
      before = workedMs();
      await turns.next();
      signal?.throwIfAborted();
      began = performance.now();
    },
  };
}

/** Items that are worked at together: requests that do so at once share appends, and hold the thread for some milliseconds. */
const AT_ONCE = 10;

/**
 * The results in the order of the items, `atOnce` of which are begun without waiting for each other, so that their appends share
 * a transaction. The work must not reject, as others are in flight then.
 */
export async function inSlices<T, R>(
  items: readonly T[],
  work: (item: T, index: number) => Promise<R>,
  atOnce = AT_ONCE,
): Promise<R[]> {
  const slices = timeSlices();
  const results: R[] = [];
  for (let start = 0; start < items.length; start += atOnce) {
    const begun: Promise<R>[] = [];
    for (const [n, item] of items.slice(start, start + atOnce).entries()) {
      begun.push(work(item, start + n));
      await slices.next();
    }
    results.push(...(await Promise.all(begun)));
  }
  return results;
}
