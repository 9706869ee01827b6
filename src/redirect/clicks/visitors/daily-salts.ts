// Port for the daily salts of visitor codes. Not part of `secrets`, because secrets are backed up: with a salt from a
// backup, 256 guesses per IPv4 /24 turn a visitor code back into an address.
export interface DailySalts {
  /**
   * The salt, base64, that all processes on this store use for a UTC day that has not ended yet. If the day has none,
   * `offered` becomes it. @throws when the store is unavailable
   */
  agree(day: UtcDay, offered: string): Promise<string>;
  /** Destroys the salts of ended days. @throws when the store is unavailable */
  sweep(now: Date): Promise<void>;
}

/** `name`: `yyyymmdd`. `endsAt`: milliseconds since 1970. */
export type UtcDay = { name: string; endsAt: number };

const DAY_MS = 86_400_000;

/** `at`: milliseconds since 1970. */
export function utcDayOf(at: number): UtcDay {
  const name = new Date(at).toISOString().slice(0, 10).replaceAll("-", "");
  return { name, endsAt: (Math.floor(at / DAY_MS) + 1) * DAY_MS };
}
