// Whose question about clicks is at work in the reader thread: accounts take turns, and none has more than two at work, so that
// one that asks much keeps nobody waiting but itself.
import { Refused } from "../../commands/refusals.ts";

/** At work: questions share the thread in time slices, and each holds what it has counted in memory. */
const MOST_AT_WORK = 6;
const MOST_OF_ONE = 2;
/** Of an account, those at work and those that wait. */
const MOST_IN_LINE = 100;

type Waiting = { begin: () => void };
type Line = { atWork: number; waiting: Waiting[] };

export type FairQueue = ReturnType<typeof fairQueue>;

/** One for all that ask. */
export function fairQueue() {
  /** In the order of their turns. */
  const lines = new Map<string, Line>();
  let atWork = 0;

  function beginNext(): void {
    for (const [accountId, line] of lines) {
      if (atWork >= MOST_AT_WORK) return;
      if (line.atWork >= MOST_OF_ONE) continue;
      const next = line.waiting.shift();
      if (!next) continue;
      // Behind the others.
      lines.delete(accountId);
      lines.set(accountId, line);
      line.atWork += 1;
      atWork += 1;
      next.begin();
    }
  }

  /** @throws analytics_busy, the signal's reason, what `work` throws */
  return async <T>(accountId: string, work: () => Promise<T>, signal?: AbortSignal): Promise<T> => {
    signal?.throwIfAborted();
    const line = lines.get(accountId) ?? { atWork: 0, waiting: [] };
    if (line.atWork + line.waiting.length >= MOST_IN_LINE) throw new Refused("analytics_busy");
    lines.set(accountId, line);
    const turn = Promise.withResolvers<void>();
    const waiting = { begin: turn.resolve };
    const leave = () => {
      line.waiting = line.waiting.filter((other) => other !== waiting);
      turn.reject(signal?.reason);
    };
    line.waiting.push(waiting);
    signal?.addEventListener("abort", leave);
    beginNext();
    let isAtWork = false;
    try {
      await turn.promise;
      isAtWork = true;
      return await work();
    } finally {
      signal?.removeEventListener("abort", leave);
      if (isAtWork) {
        line.atWork -= 1;
        atWork -= 1;
      }
      if (line.atWork + line.waiting.length === 0) lines.delete(accountId);
      beginNext();
    }
  };
}
