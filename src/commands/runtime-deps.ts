// Clock, ids and randomness as production passes them into `deps`; tests pass deterministic ones.
import { randomBytes, randomInt } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { timeOrderedId } from "../runtime/time-ordered-id.ts";
import { slugFrom } from "./links/slug.ts";

const LETTERS_AND_DIGITS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Asked for in one piece: a call for a few bytes takes as long as one for thousands. */
const POOL_BYTES = 4_096;
let pool = Buffer.alloc(0);

/** Spread into the deps of a use case; `random` gives retry jitter, `randomKey` and `randomToken` give secrets. */
export const runtimeDeps = {
  clock: () => new Date(),
  newId: () => timeOrderedId(Date.now(), pooledBytes(10).toString("hex")),
  random: () => randomInt(2 ** 32) / 2 ** 32,
  sleep: (ms: number): Promise<void> => sleep(ms),
  randomKey: () => randomText(32),
  randomToken: () => randomText(32),
  randomSlug,
} as const;

function randomSlug(): string {
  for (;;) {
    const slug = slugFrom(pooledBytes(32));
    if (slug) return slug;
  }
}

/** Cryptographically random, each byte given out once. For slugs and ids only, as secrets need not stay in a pool. */
function pooledBytes(size: number): Buffer {
  if (pool.length < size) pool = randomBytes(POOL_BYTES);
  const bytes = pool.subarray(0, size);
  pool = pool.subarray(size);
  return bytes;
}

function randomText(length: number): string {
  return Array.from({ length }, () => LETTERS_AND_DIGITS[randomInt(LETTERS_AND_DIGITS.length)]).join("");
}
