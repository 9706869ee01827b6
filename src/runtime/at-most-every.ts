// Throttles a computation: concurrent and later callers share one result for some time.
/**
 * Calls `compute` at most every `ms` milliseconds, and never while a call is in flight; other callers get the last
 * call's result or error. `now`: monotonic milliseconds.
 */
export function atMostEvery<T>(
  ms: number,
  compute: () => Promise<T>,
  now: () => number = () => performance.now(),
): () => Promise<T> {
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
