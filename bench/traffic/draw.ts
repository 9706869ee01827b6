// Which of n things each request is for: evenly, or by Zipf's law, as links in the wild are visited.

export const DRAWS = ["zipf", "even"] as const;
export type Draw = (typeof DRAWS)[number];

/** Uniform numbers in [0, 1), the same ones for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** Draws numbers below `count`. Zipf: s = 1, the ranks scattered over the numbers. */
export function drawOf(draw: Draw, count: number, random: () => number): () => number {
  if (draw === "even") return () => Math.floor(random() * count);
  const upTo = new Float64Array(count);
  let sum = 0;
  for (let rank = 0; rank < count; rank++) upTo[rank] = sum += 1 / (rank + 1);
  return () => scattered(rankOf(upTo, random() * sum), count);
}

/** The first rank whose cumulative weight is above `weight`. */
function rankOf(upTo: Float64Array, weight: number): number {
  let low = 0;
  let high = upTo.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((upTo[middle] as number) > weight) high = middle;
    else low = middle + 1;
  }
  return low;
}

/** A bijection on the numbers below `count`, as the prime is larger, so that popular links were not created together. */
function scattered(rank: number, count: number): number {
  return (rank * 1_000_003) % count;
}
