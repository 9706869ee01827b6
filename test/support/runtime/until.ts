// Waits for what other threads and processes bring about, bounded, and says for what. Where a test expects a value in the
// end, expect.poll and vi.waitFor do the same and say how it differs.
import { setTimeout as pause } from "node:timers/promises";

export type Patience = {
  /** Long enough for a machine that is busy with other tests: default 50 seconds. */
  withinMs?: number;
  /** Between two looks, which may themselves hold up what is waited for: default 20. */
  everyMs?: number;
};

/** `what`: ends the sentence "waited too long for". @throws when it does not hold in time, and what `holds` throws */
export async function until(
  what: string | (() => string),
  holds: () => boolean | Promise<boolean>,
  { withinMs = 50_000, everyMs = 20 }: Patience = {},
): Promise<void> {
  const deadline = performance.now() + withinMs;
  while (!(await holds())) {
    if (performance.now() > deadline) {
      const named = typeof what === "string" ? what : what();
      throw new Error(`waited too long (${withinMs} ms) for ${named}`);
    }
    await pause(everyMs);
  }
}
