// The salts behind visitor codes. They are apart from the secrets because those are backed up, and a salt that can
// be read after its day turns every code of that day back into an address (256 tries for an IPv4 /24).

export interface DailySalts {
  /**
   * The salt that every process on this store uses for a UTC day which has not ended yet, base64. `offered` becomes
   * it if the day has none. @throws when the store is unavailable
   */
  agree(day: UtcDay, offered: string): Promise<string>;
  /** Destroys the salts of all days that have ended. @throws when the store is unavailable */
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
