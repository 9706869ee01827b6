// Computes visitor codes with the day's salt: equal in every process, and irreproducible once the salt is destroyed.
import { messageOf } from "../../../runtime/errors.ts";
import type { BasicLogger } from "../../../runtime/logging.ts";
import { OutageBreaker } from "../../../runtime/outage-breaker.ts";
import { inTime, type MonotonicClock, type Sleep, systemClock } from "../../../runtime/pause.ts";
import { type DailySalts, type UtcDay, utcDayOf } from "./daily-salts.ts";
import { SALT_BYTES, type VisitorOf, visitorCodes } from "./visitor.ts";

export type DailyVisitorsDeps = {
  salts: DailySalts;
  clock: () => Date;
  now?: MonotonicClock["now"];
  sleep: Sleep;
  /** Random bytes from a CSPRNG. */
  randomBytes: (count: number) => Uint8Array;
  log: Pick<BasicLogger, "error">;
};

export type DailyVisitors = {
  /** The codes of the UTC day of a time (milliseconds since 1970). Never fails. */
  codesAt(at: number): Promise<VisitorOf>;
  /**
   * Destroys the salts of ended days, and puts the present one back where the store was emptied. Call it every minute:
   * without clicks after midnight nothing else does.
   */
  sweep(): Promise<void>;
  /** Why salts of ended days are still there, as the last sweep found it. */
  readonly problem: string | undefined;
};

/** `salt`: what this process uses, and offers to the others. `keptUntil`: milliseconds since 1970. */
type Day = { salt: string; codes: VisitorOf; isShared: boolean; keptUntil: number };

/** Hits may still be uncommitted when the day ends, and the store has destroyed its salt by then. */
const KEPT_IN_MEMORY_MS = 10 * 60_000;
/** Clicks wait this long for the salt store; after a failure it is not called for `OUTAGE_PAUSE_MS`. */
const ANSWER_WITHIN_MS = 1_000;
const OUTAGE_PAUSE_MS = 5_000;

/**
 * While the salt store is unavailable the process uses a salt of its own and offers it later, so no click waits, but a
 * visitor may be counted twice that day. A hit of a day that ended more than ten minutes ago gets a new random salt,
 * because that day's salt is destroyed.
 */
export function dailyVisitors(deps: DailyVisitorsDeps): DailyVisitors {
  const days = new Map<string, Day>();
  const now = () => deps.clock().getTime();
  let problem: string | undefined;
  const breaker = new OutageBreaker({ clock: deps.now ?? systemClock.now, openMs: OUTAGE_PAUSE_MS });

  return {
    async codesAt(at) {
      const day = utcDayOf(at);
      dropEnded();
      const current = days.get(day.name);
      const isOver = day.endsAt <= now();
      if (current && (current.isShared || isOver)) return current.codes;
      const own = current?.salt ?? Buffer.from(deps.randomBytes(SALT_BYTES)).toString("base64");
      const shared = !isOver && breaker.admits() ? await agreed(day, own) : undefined;
      if (shared === undefined && current) return current.codes;
      return keep(day, shared ?? own, shared !== undefined);
    },
    async sweep() {
      dropEnded();
      await offerAgain();
      try {
        await deps.salts.sweep(deps.clock());
        problem = undefined;
      } catch (err) {
        // One log line an outage.
        if (problem === undefined) deps.log.error({ err }, "salts of visitor codes outlive their day");
        problem = `of ended days can't be destroyed, by which codes could be turned back into addresses: ${messageOf(err)}`;
      }
    },
    get problem() {
      return problem;
    },
  };

  function keep(day: UtcDay, salt: string, isShared: boolean): VisitorOf {
    const codes = visitorCodes(Buffer.from(salt, "base64"));
    const keptUntil = Math.max(day.endsAt, now()) + KEPT_IN_MEMORY_MS;
    days.set(day.name, { salt, codes, isShared, keptUntil });
    return codes;
  }

  /** Else a process that starts after Redis was emptied would have another salt until the day ends. */
  async function offerAgain(): Promise<void> {
    const today = utcDayOf(now());
    const current = days.get(today.name);
    if (!current?.isShared) return;
    const shared = await agreed(today, current.salt);
    if (shared !== undefined && shared !== current.salt) keep(today, shared, true);
  }

  function dropEnded(): void {
    for (const [name, { keptUntil }] of days) if (keptUntil <= now()) days.delete(name);
  }

  /** Undefined while the store is unavailable, or has something else in the salt's place, such as an emptied file. */
  async function agreed(day: UtcDay, own: string): Promise<string | undefined> {
    const agreeing = deps.salts.agree(day, own).catch(() => undefined);
    const salt = await inTime(ANSWER_WITHIN_MS, agreeing, deps.sleep);
    const isSalt = Buffer.from(salt ?? "", "base64").length === SALT_BYTES;
    if (isSalt) breaker.succeeded();
    else breaker.failed();
    return isSalt ? salt : undefined;
  }
}
