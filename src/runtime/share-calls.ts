// Coalesces concurrent calls, but never returns a result of a call that started before the caller's own.
/**
 * Runs `call` at most once at a time for each key. Callers during a run share the next run, as the result of the one in
 * flight may be older than a change that the caller has just made.
 */
export function shareCalls<K, T>(call: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const inFlight = new Map<K, Promise<T>>();
  const next = new Map<K, Promise<T>>();
  const run = (key: K): Promise<T> => {
    next.delete(key);
    const running = call(key).finally(() => inFlight.delete(key));
    inFlight.set(key, running);
    return running;
  };
  return (key) => {
    const waiting = next.get(key);
    if (waiting) return waiting;
    const running = inFlight.get(key);
    if (!running) return run(key);
    const after = running.then(
      () => run(key),
      () => run(key),
    );
    next.set(key, after);
    return after;
  };
}
