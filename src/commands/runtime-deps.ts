// Clock, ids and randomness as production passes them into `deps`; tests pass deterministic ones.
import { randomBytes, randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { timeOrderedId } from "../runtime/time-ordered-id.ts";
import { slugFrom } from "./links/slug.ts";

const LETTERS_AND_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Spread into the deps of a use case; `random` gives retry jitter, `randomKey` and `randomToken` give secrets. */
export const runtimeDeps = {
  clock: () => new Date(),
  newId: () => timeOrderedId(Date.now(), randomBytes(10).toString("hex")),
  random: () => randomInt(2 ** 32) / 2 ** 32,
  sleep: (ms: number): Promise<void> => sleep(ms),
  randomKey: () => randomText(32),
  randomToken: () => randomText(32),
  randomSlug,
} as const;

function randomSlug(): string {
  for (;;) {
    const slug = slugFrom(randomBytes(32));
    if (slug) return slug;
  }
}

function randomText(length: number): string {
  return Array.from({ length }, () => LETTERS_AND_DIGITS[randomInt(LETTERS_AND_DIGITS.length)]).join("");
}
