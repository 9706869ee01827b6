// Keeps what many ask for from being worked out more often than it changes: one answer for all who ask meanwhile.

/**
 * A function that calls `compute` at most every `ms` milliseconds, and never while a call is in flight; in between it
 * answers as the last call did, or throws as it did. `now`: milliseconds of a clock that only goes forward.
 */
export function atMostEvery<T>(ms: number, now: () => number, compute: () => Promise<T>): () => Promise<T> {
  let last: { answer: Promise<T>; startedAt: number; inFlight: boolean } | undefined;
  return () => {
    const startedAt = now();
    if (last && (last.inFlight || startedAt - last.startedAt < ms)) return last.answer;
    const call = { answer: compute(), startedAt, inFlight: true };
    const ended = () => {
      call.inFlight = false;
    };
    call.answer.then(ended, ended);
    last = call;
    return call.answer;
  };
}
