// Coalesces concurrent calls, without ever answering a caller from something that began before it called.

/**
 * Runs `call` at most once at a time for each key. Whoever calls while a run is in flight shares the next run: joining
 * the one in flight could answer with what was true before the caller's own earlier request took effect.
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
