// Secrets of earlier versions that both adapters migrate when they are opened.

/** Salts of visitor codes are deleted: secrets are backed up, so salts have their own store (redirect/clicks/visitors/). */
export const FORMER_SALTS = "visitor-salt/";

/** Times of last use of API keys had no expiry; now they expire after a year. */
export const KEY_USES = "key-used/";
export const KEY_USE_KEPT_MS = 366 * 86_400_000;

/** Upper bound of the keys that begin with the prefix. */
export function endOf(prefix: string): string {
  return `${prefix}\u{10ffff}`;
}
