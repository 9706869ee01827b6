// A coarse rank of links by clicks of people, so that an index for "most clicked" lists changes seldom, not with each click.
/** Below this number of clicks each number has a rank of its own: the number itself. */
export const EXACT_RANKS = 16;
/** Ranks for each doubling of the number: each is at most an eighth as wide as its numbers are large. */
const BITS = 3;
const MAX = 2 ** 31 - 1;

/** Grows with the number of clicks. A link with n clicks has had at most 16 + 8 log2(n / 16) ranks before. */
export function clickRank(clicks: number): number {
  if (clicks < EXACT_RANKS) return clicks;
  const bounded = Math.min(clicks, MAX);
  const doublings = 31 - Math.clz32(bounded) - BITS;
  return (doublings << BITS) + (bounded >>> doublings);
}
