// Waits until projections have reached a log position, for read-your-writes.
import type { Position } from "../event-store/port.ts";
import type { ReadStore } from "../read-store/port.ts";

const POLL_MS = 10;

/**
 * True once all named checkpoints (checkpointName) have reached the position; false after `timeoutMs`, which may become
 * shorter meanwhile, or immediately when a projection that is behind waits for a newer program.
 */
export async function whenProjected(
  { readStore, sleep }: { readStore: ReadStore; sleep: (ms: number) => Promise<void> },
  checkpointNames: readonly string[],
  position: Position,
  timeoutMs: () => number,
): Promise<boolean> {
  // By the clock: on a busy MongoDB the reads take longer than the pauses between them.
  const startedAt = performance.now();
  for (;;) {
    let reached = true;
    for (const name of checkpointNames) {
      const checkpoint = await readStore.checkpoint(name);
      if (checkpoint && checkpoint.position >= position) continue;
      if (checkpoint?.waitsFor) return false;
      reached = false;
    }
    if (reached) return true;
    if (performance.now() - startedAt >= timeoutMs()) return false;
    await sleep(POLL_MS);
  }
}
