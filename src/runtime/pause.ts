// An abortable timer that resolves instead of rejecting.
import { setTimeout as delay } from "node:timers/promises";

/** Resolves after `ms` milliseconds, or as soon as the signal aborts; never throws. */
export async function pause(ms: number, signal?: AbortSignal): Promise<void> {
  await delay(ms, undefined, signal && { signal }).catch(() => undefined);
}
