// Pure but dear computations on values that come again and again: user agents, addresses, referrers.
import { LRUCache } from "lru-cache";

/** `compute` with its last `max` answers kept. */
export function remember<V extends NonNullable<unknown>>(
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
