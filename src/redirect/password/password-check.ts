// Checks passwords of links, so that neither wrong nor right ones sent in numbers keep others from theirs.
import { createHmac } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Bounded } from "../../commands/password-work.ts";
import { Refused } from "../../commands/refusals.ts";
import { addressOf } from "../../runtime/addresses/networks.ts";
import { entriesBound } from "../../runtime/entries-bound.ts";
import type { PassFor } from "./link-pass.ts";

/** Wrong passwords of a client's address, and of a link. */
export type PasswordTries = {
  /** Before the check, so that no more are checked at once than are left. @throws rate_limit_exceeded */
  take(address: string, link: string): Promise<void>;
  /** After a right password, which counts for nothing. */
  giveBack(address: string, link: string): Promise<void>;
};

export type PasswordCheckDeps = {
  /** Hashes, which takes tens of milliseconds of a core. Undefined where there is no such password. @throws StoreUnavailable */
  isPassword: (passwordId: string, password: string) => Promise<boolean | undefined>;
  /** Of passwords that visitors give. @throws too_busy */
  hashing: Bounded;
  tries: PasswordTries;
  /** Random, of this process: what it remembers of right passwords is hashed under it. */
  key: Uint8Array;
};

/** @throws rate_limit_exceeded, too_busy, StoreUnavailable */
export type PasswordCheck = (of: PassFor, address: string, password: string) => Promise<boolean | undefined>;

/** Being checked or waiting for it. */
const MOST_OF_ADDRESS = 4;
const MOST_OF_LINK = 16;
const KEPT_MS = 10 * 60_000;
const MOST_KEPT = 10_000;

/**
 * A right password is kept for ten minutes, and the same one that comes from one address several times at once is
 * checked once.
 */
export function passwordCheck({ isPassword, hashing, tries, key }: PasswordCheckDeps): PasswordCheck {
  const right = new LRUCache<string, true>({ ...entriesBound(MOST_KEPT), ttl: KEPT_MS });
  const inFlight = new Map<string, ReturnType<PasswordCheck>>();
  const waiting = new Map<string, number>();
  const hidden = (...texts: string[]) =>
    createHmac("sha256", key).update(JSON.stringify(texts)).digest("base64");

  async function check({ link, passwordId }: PassFor, address: string, password: string) {
    const leave = enter(addressOf(address), link);
    try {
      await tries.take(address, link);
      const digest = hidden(passwordId, password);
      // Whoever is asked again, because the store is away or too many wait, has tried nothing.
      const giveBack = () => tries.giveBack(address, link);
      const hash = async () => right.has(digest) || (await isPassword(passwordId, password));
      const isRight =
        right.has(digest) ||
        (await hashing(hash).catch((error) => giveBack().then(() => Promise.reject(error))));
      if (!isRight) return isRight;
      right.set(digest, true);
      await giveBack();
      return true;
    } finally {
      leave();
    }
  }

  /** Returns what leaves again. @throws too_busy */
  function enter(address: string, link: string): () => void {
    const places = [`address ${address}`, `link ${link}`];
    const [ofAddress = 0, ofLink = 0] = places.map((place) => waiting.get(place) ?? 0);
    if (ofAddress >= MOST_OF_ADDRESS || ofLink >= MOST_OF_LINK) throw new Refused("too_busy");
    const add = (more: 1 | -1) => {
      for (const place of places) {
        const count = (waiting.get(place) ?? 0) + more;
        if (count > 0) waiting.set(place, count);
        else waiting.delete(place);
      }
    };
    add(1);
    return () => add(-1);
  }

  return (of, address, password) => {
    const same = hidden(of.passwordId, password, address);
    const checking = inFlight.get(same) ?? check(of, address, password).finally(() => inFlight.delete(same));
    inFlight.set(same, checking);
    return checking;
  };
}
