// Lets redirects, in the main thread, go first on a busy machine.
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

/** For the calling thread, never the main one. On Linux a thread has a priority of its own; elsewhere nothing changes. */
export function yieldToRedirects(niceness: number): void {
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    if (Number.isInteger(thread) && thread !== process.pid) setPriority(thread, niceness);
  } catch {
    // Not allowed, or not Linux: the thread then competes as an equal.
  }
}
