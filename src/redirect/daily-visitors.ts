// The day's salt for visitor codes: shared by all processes through secrets, gone for good when the day is over.
import type { Secrets } from "../secrets/port.ts";
import { type VisitorOf, visitorCodes } from "./visitor.ts";

export type DailyVisitorsDeps = {
  secrets: Secrets;
  clock: () => Date;
  /** Random bytes from a CSPRNG. */
  randomBytes: (count: number) => Uint8Array;
};

const DAY_MS = 86_400_000;

/** Answers visitor codes under the salt of the UTC day of a time; keeps those of the last two days in memory for hits still in line. */
export function dailyVisitors(deps: DailyVisitorsDeps): (at: number) => Promise<VisitorOf> {
  const days = new Map<string, VisitorOf>();
  return async (at) => {
    const day = new Date(at).toISOString().slice(0, 10).replaceAll("-", "");
    const known = days.get(day);
    if (known) return known;
    const endOfDay = new Date((Math.floor(at / DAY_MS) + 1) * DAY_MS);
    const fresh = Buffer.from(deps.randomBytes(32)).toString("base64");
    const record = { value: fresh, expiresAt: endOfDay.toISOString() };
    const stored = await deps.secrets.putIfAbsent(`visitor-salt/${day}`, record, deps.clock());
    const visitorOf = visitorCodes(Buffer.from(typeof stored === "string" ? stored : fresh, "base64"));
    days.set(day, visitorOf);
    for (const old of [...days.keys()].sort().slice(0, -2)) days.delete(old);
    await deps.secrets.sweep(deps.clock());
    return visitorOf;
  };
}
