// Waiting that whoever asked for it can cut short.
import { setTimeout as delay } from "node:timers/promises";

/** Resolves after `ms`, or at once when the signal aborts; never throws. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal && { signal }).catch(() => undefined);
}
