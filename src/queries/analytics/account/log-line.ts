// The line of those who ask what is counted in the log, in the reader thread: each may take most of a core for half a minute.
import pLimit from "p-limit";
import { Refused } from "../../../runtime/refused.ts";

const AT_A_TIME = 2;
/** Of an account, those that are counted and those that wait. */
const MOST_IN_LINE = 8;

export type LogLine = ReturnType<typeof logLine>;

/** One for all that read. */
export function logLine() {
  const inTurn = pLimit(AT_A_TIME);
  const waiting = new Map<string, number>();
  /** @throws analytics_busy, what `read` throws */
  return async <T>(accountId: string, read: () => Promise<T>): Promise<T> => {
    const before = waiting.get(accountId) ?? 0;
    if (before >= MOST_IN_LINE) throw new Refused("analytics_busy");
    waiting.set(accountId, before + 1);
    try {
      return await inTurn(read);
    } finally {
      const left = (waiting.get(accountId) ?? 1) - 1;
      if (left > 0) waiting.set(accountId, left);
      else waiting.delete(accountId);
    }
  };
}
