// One use case at a time for one name, over all processes: secrets have no compare-and-set, so who reads one to decide
// what to write there holds a lock meanwhile.
import type { Secrets } from "../../secrets/port.ts";

export type LockDeps = { secrets: Secrets; clock: () => Date; newId: () => string };

/** Work that a crash cut off blocks the next for this long. */
const LONGEST_WORK_MS = 30_000;

/** `name`: of the lock's own secret. `refusal`: what is thrown at whoever comes while another works. */
export async function withLock<T>(
  { secrets, clock, newId }: LockDeps,
  name: string,
  refusal: () => Error,
  work: () => Promise<T>,
): Promise<T> {
  const mine = newId();
  const now = clock();
  const expiresAt = new Date(now.getTime() + LONGEST_WORK_MS).toISOString();
  if ((await secrets.putIfAbsent(name, { value: mine, expiresAt }, now)) !== mine) throw refusal();
  try {
    return await work();
  } finally {
    // After a stall longer than the lock's life it is another's.
    if ((await secrets.get(name, clock())) === mine) await secrets.delete(name);
  }
}
