// Memoizes pure functions whose inputs repeat, such as user agents, referrers and hosts.
import { LRUCache } from "lru-cache";

/** `compute` with an LRU cache of `max` results. */
export function memoize<V extends NonNullable<unknown>>(
  max: number,
  compute: (text: string) => V,
): (text: string) => V {
  const results = new LRUCache<string, V>({ max });
  return (text) => {
    const known = results.get(text);
    if (known !== undefined) return known;
    const result = compute(text);
    results.set(text, result);
    return result;
  };
}

/** The same by object identity; a result is released together with its object. */
export function memoizeByObject<O extends object, V extends NonNullable<unknown>>(
  compute: (object: O) => V,
): (object: O) => V {
  const results = new WeakMap<O, V>();
  return (object) => {
    const known = results.get(object);
    if (known !== undefined) return known;
    const result = compute(object);
    results.set(object, result);
    return result;
  };
}
