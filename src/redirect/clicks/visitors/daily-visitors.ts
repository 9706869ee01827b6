// Visitor codes under the salt of their day: the same in every process, and impossible to make again afterwards.
import { OutageBreaker } from "../../../runtime/outage-breaker.ts";
import { type DailySalts, type UtcDay, utcDayOf } from "./daily-salts.ts";
import { type VisitorOf, visitorCodes } from "./visitor.ts";

export type DailyVisitorsDeps = {
  salts: DailySalts;
  clock: () => Date;
  /** Ends early, and quietly, when the signal aborts. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Random bytes from a CSPRNG. */
  randomBytes: (count: number) => Uint8Array;
};

export type DailyVisitors = {
  /** The codes of the UTC day of a time (milliseconds since 1970). Never fails. */
  codesAt(at: number): Promise<VisitorOf>;
  /** Destroys what is left of days that have ended; to be called each minute, as nobody may click after midnight. */
  sweep(): Promise<void>;
};

/** `own`: what this process offered as the day's salt. `keptUntil`: milliseconds since 1970. */
type Day = { own: string; codes: VisitorOf; isShared: boolean; keptUntil: number };

/** Hits may wait for their commit when the day ends; only this process's memory knows the salt then. */
const KEPT_IN_MEMORY_MS = 10 * 60_000;
/** Clicks wait no longer for a store that is unavailable, and nobody asks it again for a while. */
const ANSWER_WITHIN_MS = 1_000;
const ASK_AGAIN_MS = 5_000;

/**
 * While the salts' store is unavailable the process uses a salt of its own, which becomes everybody's if nobody had
 * one: a visitor may then be counted once more that day, and no click is held up. A hit of a day that ended longer ago
 * than the memory lasts gets a fresh salt, as that day's is destroyed.
 */
export function dailyVisitors(deps: DailyVisitorsDeps): DailyVisitors {
  const days = new Map<string, Day>();
  const now = () => deps.clock().getTime();
  const breaker = new OutageBreaker({ clock: now, openMs: ASK_AGAIN_MS });

  return {
    async codesAt(at) {
      const day = utcDayOf(at);
      forgetOld();
      const known = days.get(day.name);
      const isOver = day.endsAt <= now();
      if (known && (known.isShared || isOver)) return known.codes;
      const own = known?.own ?? Buffer.from(deps.randomBytes(32)).toString("base64");
      const shared = !isOver && breaker.admits() ? await agreed(day, own) : undefined;
      if (shared === undefined && known) return known.codes;
      const codes = visitorCodes(Buffer.from(shared ?? own, "base64"));
      const keptUntil = Math.max(day.endsAt, now()) + KEPT_IN_MEMORY_MS;
      days.set(day.name, { own, codes, isShared: shared !== undefined, keptUntil });
      return codes;
    },
    async sweep() {
      forgetOld();
      await deps.salts.sweep(deps.clock()).catch(() => undefined);
    },
  };

  function forgetOld(): void {
    for (const [name, { keptUntil }] of days) if (keptUntil <= now()) days.delete(name);
  }

  /** Undefined while the store is unavailable. */
  async function agreed(day: UtcDay, own: string): Promise<string | undefined> {
    const salt = await inTime(deps.salts.agree(day, own).catch(() => undefined));
    if (salt === undefined) breaker.failed();
    else breaker.succeeded();
    return salt;
  }

  async function inTime<T>(asking: Promise<T>): Promise<T | undefined> {
    const answered = new AbortController();
    const late = deps.sleep(ANSWER_WITHIN_MS, answered.signal).then(() => undefined);
    return Promise.race([asking, late]).finally(() => answered.abort());
  }
}
