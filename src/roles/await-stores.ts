// A start while servers are away: asks on until each answers, says so, and makes what is missing in them.
import type { Backend } from "../backend.ts";
import { BadConfig } from "../config.ts";
import { messageOf } from "../runtime/errors.ts";
import type { Logger } from "../runtime/logging.ts";
import { pause } from "../runtime/pause.ts";

const ASK_EVERY_MS = 1_000;
const TELL_EVERY_MS = 30_000;

/**
 * In the background, until the answered function is called; who needs a store finds out by itself if it is there.
 * Stores that turn out not to work together end the process, as they would have at its start: BadConfig, unhandled.
 */
export function awaitStores(
  { eventStore, prepare }: Pick<Backend, "eventStore" | "prepare">,
  log: Pick<Logger, "info" | "warn">,
): () => void {
  const stopping = new AbortController();
  void untilItAnswers("event store", () => eventStore.head(), log, stopping.signal);
  void untilItAnswers("read store", prepare, log, stopping.signal);
  return () => stopping.abort();
}

async function untilItAnswers(
  part: string,
  ask: () => Promise<unknown>,
  log: Pick<Logger, "info" | "warn">,
  signal: AbortSignal,
): Promise<void> {
  let toldAt = Number.NEGATIVE_INFINITY;
  while (!signal.aborted) {
    try {
      await ask();
      if (toldAt > 0) log.info(`the ${part} answers`);
      return;
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof BadConfig) throw error;
      if (performance.now() - toldAt >= TELL_EVERY_MS) {
        log.warn(`waiting for the ${part}: ${messageOf(error)}`);
        toldAt = performance.now();
      }
    }
    await pause(ASK_EVERY_MS, signal);
  }
}
