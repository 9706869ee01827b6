// One time budget for a whole stop, counted down: no part has a limit of its own that could outlast the process's.
import type { Logger } from "pino";

/** Told how many milliseconds it has; what it has not done by then is given up. */
export type Close = (withinMs: number) => Promise<unknown>;

/** Closed at the same time. `until`: the share of the whole budget, 0 to 1, that is used up when the next stage begins. */
export type StopStage = { closers: readonly Close[]; until: number };

export type StopDeps = {
  /** Milliseconds from any start. */
  now: () => number;
  /** Ends early, and quietly, when the signal aborts. */
  sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  log: Pick<Logger, "error">;
};

/** Stage after stage, whatever fails or is late; time that a stage leaves over is the next one's. Never rejects. */
export async function stopInStages(
  deps: StopDeps,
  budgetMs: number,
  stages: readonly StopStage[],
): Promise<void> {
  const startedAt = deps.now();
  for (const { closers, until } of stages) {
    const withinMs = Math.max(0, startedAt + until * budgetMs - deps.now());
    await Promise.all(closers.map((close) => closeWithin(deps, close, withinMs)));
  }
}

async function closeWithin({ sleep, log }: StopDeps, close: Close, withinMs: number): Promise<void> {
  const closed = new AbortController();
  const late = sleep(withinMs, closed.signal).then(() => {
    if (!closed.signal.aborted) throw new Error(`not closed within ${Math.round(withinMs)} ms`);
  });
  try {
    await Promise.race([close(withinMs), late]);
  } catch (err) {
    log.error({ err }, "closing failed");
  } finally {
    closed.abort();
  }
}
