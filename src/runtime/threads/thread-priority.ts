// Lowers the scheduling priority of worker threads, so that the main thread's requests come first on a busy machine.
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";

/** Of the calling worker thread. Only on Linux, where each thread has its own priority; elsewhere it does nothing. */
export function lowerThreadPriority(niceness: number): void {
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    if (Number.isInteger(thread) && thread !== process.pid) setPriority(thread, niceness);
  } catch {
    // Not permitted, or not Linux: the thread keeps the default priority.
  }
}
