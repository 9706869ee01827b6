// The day's salt for visitor codes: shared by all processes through secrets, gone for good when the day is over.
import { OutageBreaker } from "../outage-breaker.ts";
import type { Secrets } from "../secrets/port.ts";
import { type VisitorOf, visitorCodes } from "./visitor.ts";

export type DailyVisitorsDeps = {
  secrets: Secrets;
  clock: () => Date;
  /** Ends early, and quietly, when the signal aborts. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Random bytes from a CSPRNG. */
  randomBytes: (count: number) => Uint8Array;
};

/** `own`: what this process offered as the day's salt. */
type Day = { own: string; visitorOf: VisitorOf; isShared: boolean };

const DAY_MS = 86_400_000;
/** Clicks wait no longer for secrets that are away, and nobody asks them again for a while. */
const ANSWER_WITHIN_MS = 1_000;
const ASK_AGAIN_MS = 5_000;

/**
 * Answers visitor codes under the salt of the UTC day of a time; keeps those of the last two days in memory for hits
 * still in line. While secrets are away it goes by a salt of its own, which becomes everybody's if nobody had one:
 * a visitor may then be counted once more that day, and no click is held up.
 */
export function dailyVisitors(deps: DailyVisitorsDeps): (at: number) => Promise<VisitorOf> {
  const days = new Map<string, Day>();
  const breaker = new OutageBreaker({ clock: () => deps.clock().getTime(), openMs: ASK_AGAIN_MS });

  return async (at) => {
    const name = new Date(at).toISOString().slice(0, 10).replaceAll("-", "");
    const known = days.get(name);
    if (known?.isShared) return known.visitorOf;
    const own = known?.own ?? Buffer.from(deps.randomBytes(32)).toString("base64");
    const shared = breaker.admits() ? await sharedSalt(name, at, own) : undefined;
    if (shared === undefined && known) return known.visitorOf;
    const day = { own, visitorOf: codesUnder(shared ?? own), isShared: shared !== undefined };
    days.set(name, day);
    for (const old of [...days.keys()].sort().slice(0, -2)) days.delete(old);
    return day.visitorOf;
  };

  /** Undefined while secrets are away. */
  async function sharedSalt(name: string, at: number, own: string): Promise<string | undefined> {
    const endOfDay = new Date((Math.floor(at / DAY_MS) + 1) * DAY_MS);
    const record = { value: own, expiresAt: endOfDay.toISOString() };
    const asking = deps.secrets.putIfAbsent(`visitor-salt/${name}`, record, deps.clock()).then(
      (stored) => (typeof stored === "string" ? stored : own),
      () => undefined,
    );
    const salt = await inTime(asking);
    if (salt === undefined) {
      breaker.failed();
      return undefined;
    }
    breaker.succeeded();
    // Not waited for: what is left over is swept with the next day's salt.
    deps.secrets.sweep(deps.clock()).catch(() => undefined);
    return salt;
  }

  async function inTime<T>(asking: Promise<T>): Promise<T | undefined> {
    const answered = new AbortController();
    const late = deps.sleep(ANSWER_WITHIN_MS, answered.signal).then(() => undefined);
    return Promise.race([asking, late]).finally(() => answered.abort());
  }
}

function codesUnder(salt: string): VisitorOf {
  return visitorCodes(Buffer.from(salt, "base64"));
}
