// Keeps what a thread works at in the background from delaying redirects.
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

/** Below the priority of the HTTP thread. */
const NICENESS = 5;

/** Of this thread; only on Linux, where each has its own. */
export function lowerPriority(): void {
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    if (Number.isInteger(thread) && thread !== process.pid) setPriority(thread, NICENESS);
  } catch {
    // Not permitted, or not Linux: the thread keeps the default priority.
  }
}
