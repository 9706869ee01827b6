// The logger of a worker thread: posts its lines to the parent, which writes them.

import { errorFields } from "../error-fields.ts";
import type { BasicLogger } from "../logging.ts";
import type { ThreadLog } from "./keep-thread.ts";

/** Errors are posted as plain fields, as a structured clone drops their class and code. */
export function threadLog(post: (line: ThreadLog) => void): BasicLogger {
  const at = (level: ThreadLog["level"]) => (first: unknown, second?: string) => {
    const fields =
      typeof first === "object" && first !== null ? { ...(first as Record<string, unknown>) } : {};
    if (fields.err !== undefined) fields.err = errorFields(fields.err);
    post({ type: "log", level, fields, message: typeof first === "string" ? first : (second ?? "") });
  };
  return { info: at("info"), warn: at("warn"), error: at("error") };
}
