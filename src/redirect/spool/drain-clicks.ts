// The one loop by which clicks reach the event store: from memory, from the own spool, and from those of the dead.
import { keepTrying } from "../../runtime/keep-trying.ts";
import { appendOnce, type ClickBatch, type ClickLog } from "./append-once.ts";

/** The next clicks in line. `stored`: called once they are in the store, before the next ones are looked for. */
export type Pending = ClickBatch & { stored: () => void };

export type DrainDeps = {
  eventStore: ClickLog;
  /** Ends early, and quietly, when the signal aborts. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** [0,1) for jitter. */
  random: () => number;
};

/** Many small batches join into one append; an adapter with a smaller limit cuts them, the same way at every try. */
export const MAX_CLICKS_AN_APPEND = 2_000;
const RETRY = { fromMs: 50, toMs: 1_000 };

/**
 * Resolves when nothing is pending, or the signal aborts. Tries for ever, with jittered pauses that double: order is
 * kept and nothing is given up.
 */
export async function drainClicks(
  { eventStore, sleep, random }: DrainDeps,
  next: () => Pending | undefined,
  onFailure: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const drain = async (progress: () => void): Promise<void> => {
    try {
      while (!signal.aborted) {
        const pending = next();
        if (!pending) return;
        await appendOnce(eventStore, pending);
        pending.stored();
        progress();
      }
    } catch (error) {
      // Also after the abort: what could not be appended by then has to go to the spool.
      onFailure(error);
      throw error;
    }
  };
  await keepTrying({ ...RETRY, random, sleep }, drain, signal);
}
