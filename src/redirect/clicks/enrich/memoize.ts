// Pure but dear computations on values that come again and again: user agents, addresses, referrers.
import { LRUCache } from "lru-cache";

/** `compute` with its last `max` answers kept. */
export function memoize<V extends NonNullable<unknown>>(
  max: number,
  compute: (text: string) => V,
): (text: string) => V {
  const answers = new LRUCache<string, V>({ max });
  return (text) => {
    const known = answers.get(text);
    if (known !== undefined) return known;
    const answer = compute(text);
    answers.set(text, answer);
    return answer;
  };
}

/** The same for what follows from an object, kept for as long as the object is. */
export function memoizeByObject<O extends object, V extends NonNullable<unknown>>(
  compute: (object: O) => V,
): (object: O) => V {
  const answers = new WeakMap<O, V>();
  return (object) => {
    const known = answers.get(object);
    if (known !== undefined) return known;
    const answer = compute(object);
    answers.set(object, answer);
    return answer;
  };
}
