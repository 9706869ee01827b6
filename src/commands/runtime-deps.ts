// Clock, ids and randomness as production passes them into `deps`; tests pass deterministic ones.
import { randomInt, randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { timeOrderedId } from "../runtime/time-ordered-id.ts";
import { RESERVED_WORDS, SLUG_ALPHABET, SLUG_LENGTH } from "./links/slug.ts";

const LETTERS_AND_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Spread into the deps of a use case; `random` gives retry jitter, `randomKey` and `randomToken` give secrets. */
export const runtimeDeps = {
  clock: () => new Date(),
  newId: () => timeOrderedId(Date.now(), randomHexDigits()),
  random: () => randomInt(2 ** 32) / 2 ** 32,
  sleep: (ms: number): Promise<void> => sleep(ms),
  randomKey: () => randomText(32, LETTERS_AND_DIGITS),
  randomToken: () => randomText(32, LETTERS_AND_DIGITS),
  randomSlug,
} as const;

function randomSlug(): string {
  for (;;) {
    const slug = randomText(SLUG_LENGTH, SLUG_ALPHABET);
    if (!RESERVED_WORDS.has(slug)) return slug;
  }
}

/** The 20 digits of a UUID around those of its version and variant, as Node draws the bytes of many UUIDs at a time. */
function randomHexDigits(): string {
  const uuid = randomUUID();
  return uuid.slice(0, 8) + uuid.slice(24);
}

function randomText(length: number, letters: string): string {
  return Array.from({ length }, () => letters[randomInt(letters.length)]).join("");
}
