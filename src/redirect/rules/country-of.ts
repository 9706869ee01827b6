// The country of an address for rules: asked of the writer thread, which alone has the database in memory.
import { LRUCache } from "lru-cache";
import { UNKNOWN } from "../../events/vocabulary.ts";
import { entriesBound } from "../../runtime/entries-bound.ts";
import { inTime } from "../../runtime/pause.ts";

/** ISO 3166-1 alpha-2, or `unknown`. Never rejects. */
export type CountryOf = (address: string) => Promise<string>;

const MOST_ADDRESSES = 20_000;
const KEPT_MS = 10 * 60_000;
/** A visit is led as one from nowhere, if the thread waits longer for the disk. */
const ANSWER_WITHIN_MS = 1_000;

/** Remembers an address for ten minutes, and asks once for those that visit several times at once. */
export function countryOfAddress(ask: CountryOf): CountryOf {
  const countries = new LRUCache<string, Promise<string>>({ ...entriesBound(MOST_ADDRESSES), ttl: KEPT_MS });
  return async (address) => {
    let answer = countries.get(address);
    if (!answer) {
      answer = ask(address);
      countries.set(address, answer);
    }
    const country = await inTime(ANSWER_WITHIN_MS, answer).catch(() => undefined);
    if (country === undefined) countries.delete(address);
    return country ?? UNKNOWN;
  };
}
