// Shares one time budget among the stages of a shutdown, so that no part's own timeout can exceed the process's.
import type { Logger } from "../logging.ts";
import { inTime, type MonotonicClock } from "../pause.ts";

/** Gets the milliseconds that it may take; after them the shutdown goes on without it. */
export type Close = (withinMs: number) => Promise<unknown>;

/** `closers` run concurrently. `until`: the share of the whole budget, 0 to 1, at which the next stage starts at the latest. */
export type StopStage = { closers: readonly Close[]; until: number };

type StopDeps = MonotonicClock & { log: Pick<Logger, "error"> };

/** Runs the stages in order, also after failures and timeouts; unused time passes to the next stage. Never rejects. */
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
  try {
    const closing = close(withinMs).then(() => true);
    if (!(await inTime(withinMs, closing, sleep)))
      throw new Error(`not closed within ${Math.round(withinMs)} ms`);
  } catch (err) {
    log.error({ err }, "closing failed");
  }
}
