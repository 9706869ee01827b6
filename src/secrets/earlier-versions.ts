// What earlier versions kept among the secrets and this one must not find there: both adapters put it right on opening.

/** Salts of visitor codes: now in a store of their own (redirect/clicks/visitors/daily-salts.ts), as secrets are backed up. */
export const FORMER_SALTS = "visitor-salt/";

/** When API keys were last used: once without an end, now gone after a year. */
export const KEY_USES = "key-used/";
export const KEY_USE_KEPT_MS = 366 * 86_400_000;

/** The first key after all that begin with the prefix. */
export function endOf(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}
