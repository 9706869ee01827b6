// What a worker thread does for itself: log through its parent, take less of the processor, and free what its start left.
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { runInNewContext } from "node:vm";
import { errorFields } from "../error-fields.ts";
import type { BasicLogger } from "../logging.ts";
import type { ThreadLog } from "./keep-thread.ts";

/** When all modules are loaded and stores are open, also on a slow machine. */
const AFTER_MS = 5_000;

/** Posts lines to the parent, which writes them. Errors are posted as plain fields, as a structured clone drops their class and code. */
export function threadLog(post: (line: ThreadLog) => void): BasicLogger {
  const at = (level: ThreadLog["level"]) => (first: unknown, second?: string) => {
    const fields =
      typeof first === "object" && first !== null ? { ...(first as Record<string, unknown>) } : {};
    if (fields.err !== undefined) fields.err = errorFields(fields.err);
    post({ type: "log", level, fields, message: typeof first === "string" ? first : (second ?? "") });
  };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}

/**
 * Lowers the priority of the calling worker thread, so that the main thread's requests come first on a busy machine. Only on
 * Linux, where each thread has its own; elsewhere it does nothing.
 */
export function lowerThreadPriority(niceness: number): void {
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    if (Number.isInteger(thread) && thread !== process.pid) setPriority(thread, niceness);
  } catch {
    // Not permitted, or not Linux: the thread keeps the default priority.
  }
}

/**
 * Collects the garbage of the calling thread once, where the process was started with `--expose-gc`: V8 would keep what a start
 * has left for good in a thread that has little to do. As V8 does when memory runs out: other collections keep the pages of a
 * young generation that a start has enlarged.
 */
export function collectAfterStart(afterMs = AFTER_MS): void {
  // In a context of its own, as the flag gives `gc` to no thread but the first.
  const collect = () => runInNewContext('globalThis.gc?.({ type: "major", flavor: "last-resort" })');
  setTimeout(collect, afterMs).unref();
}
