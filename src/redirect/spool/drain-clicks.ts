// Appends pending clicks to the event store until none remains: the one loop for memory, own and orphaned spools.
import { keepTrying } from "../../runtime/keep-trying.ts";
import type { Sleep } from "../../runtime/pause.ts";
import { appendOnce, type ClickBatch, type ClickLog } from "./append-once.ts";

/** The next clicks to append. `onStored`: called once they are in the store, before the next ones are taken. */
export type PendingClicks = ClickBatch & { onStored: () => void };

export type DrainDeps = {
  eventStore: ClickLog;
  sleep: Sleep;
  /** [0,1) for jitter. */
  random: () => number;
};

/** Small batches are joined up to this size. An adapter with a smaller limit must split identically at each retry. */
export const MAX_CLICKS_AN_APPEND = 2_000;
const RETRY = { fromMs: 50, toMs: 1_000 };

/**
 * Resolves when nothing is pending or the signal aborts. Retries without limit, with exponential backoff and jitter,
 * so that order is kept and no click is dropped.
 */
export async function drainClicks(
  { eventStore, sleep, random }: DrainDeps,
  next: () => PendingClicks | undefined,
  onFailure: (error: unknown) => void,
  signal: AbortSignal,
): Promise<void> {
  const drain = async (progress: () => void): Promise<void> => {
    try {
      while (!signal.aborted) {
        const pending = next();
        if (!pending) return;
        await appendOnce(eventStore, pending);
        pending.onStored();
        progress();
      }
    } catch (error) {
      // Called after the abort too: the caller has to spool what could not be appended.
      onFailure(error);
      throw error;
    }
  };
  await keepTrying({ ...RETRY, random, sleep }, drain, signal);
}
