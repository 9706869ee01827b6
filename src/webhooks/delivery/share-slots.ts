// Who gets the free places of a worker: one for each webhook in turn, so that none waits behind another's backlog. Pure.

/** `room`: how many more this one may have under way. */
export type Waiting<T> = { item: T; room: number };

/** How many each gets, in the order given; those with nothing are left out. */
export function shareSlots<T>(waiting: readonly Waiting<T>[], free: number): Map<T, number> {
  const shares = new Map<T, number>();
  let left = free;
  for (let round = 1; left > 0; round++) {
    const before = left;
    for (const { item, room } of waiting) {
      if (left === 0) break;
      if (room < round) continue;
      shares.set(item, round);
      left -= 1;
    }
    if (left === before) break;
  }
  return shares;
}
