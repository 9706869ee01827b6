// What a worker thread does for itself: log through its parent, and take less of the processor.
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { errorFields } from "../error-fields.ts";
import { isObject } from "../is-object.ts";
import type { BasicLogger } from "../logging.ts";
import type { ThreadLog } from "./keep-thread.ts";

/** Posts lines to the parent, which writes them. Errors are posted as plain fields, as a structured clone drops their class and code. */
export function threadLog(post: (line: ThreadLog) => void): BasicLogger {
  const at = (level: ThreadLog["level"]) => (first: unknown, second?: string) => {
    const fields = isObject(first) ? { ...first } : {};
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
