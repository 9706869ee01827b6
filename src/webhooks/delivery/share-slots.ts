// Shares the free slots of a worker round-robin, so that no webhook waits behind another one's backlog. Pure.
/** `room`: how many more deliveries of the item may be in flight. */
export type Waiting<T> = { item: T; room: number };

/** Slots per item, in the given order; items without a slot are omitted. */
export function shareSlots<T>(waiting: readonly Waiting<T>[], free: number): Map<T, number> {
  const shares = new Map<T, number>();
  let remaining = free;
  for (let round = 1; remaining > 0; round++) {
    const atStart = remaining;
    for (const { item, room } of waiting) {
      if (remaining === 0) break;
      if (room < round) continue;
      shares.set(item, round);
      remaining -= 1;
    }
    if (remaining === atStart) break;
  }
  return shares;
}
