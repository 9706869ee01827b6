// Memoizes pure functions whose inputs repeat, such as user agents, referrers and hosts.
import { LRUCache } from "lru-cache";

/** Of one input on average. */
const CHARACTERS = 512;

/** `compute` with an LRU cache of `max` results: fewer when inputs are long, as strangers can send 16 KB. */
export function memoize<K extends string | number, V extends NonNullable<unknown>>(
  max: number,
  compute: (input: K) => V,
): (input: K) => V {
  const results = new LRUCache<K, V>({
    max,
    maxSize: max * CHARACTERS,
    sizeCalculation: (_, input) => 1 + (typeof input === "string" ? input.length : 0),
  });
  return (input) => {
    const cached = results.get(input);
    if (cached !== undefined) return cached;
    const result = compute(input);
    results.set(input, result);
    return result;
  };
}

/** The same by object identity; a result is released together with its object. */
export function memoizeByObject<O extends object, V extends NonNullable<unknown>>(
  compute: (object: O) => V,
): (object: O) => V {
  const results = new WeakMap<O, V>();
  return (object) => {
    const cached = results.get(object);
    if (cached !== undefined) return cached;
    const result = compute(object);
    results.set(object, result);
    return result;
  };
}
