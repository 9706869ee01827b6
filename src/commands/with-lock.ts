// Locks for use cases that read a secret to decide what to write elsewhere.

import type { Secrets } from "../stores/secrets/port.ts";
import { type RefusalCode, Refused } from "./refusals.ts";

export type LockDeps = { secrets: Secrets; clock: () => Date; newId: () => string };

/** Expiry of the lock: after a crash the name stays locked for this long. */
const LONGEST_WORK_MS = 30_000;

/** `name`: of the lock's own secret. @throws `refusal` when another process holds the lock */
export async function withLock<T>(
  { secrets, clock, newId }: LockDeps,
  name: string,
  refusal: RefusalCode,
  work: () => Promise<T>,
): Promise<T> {
  const mine = newId();
  const now = clock();
  const expiresAt = new Date(now.getTime() + LONGEST_WORK_MS).toISOString();
  if ((await secrets.putIfAbsent(name, { value: mine, expiresAt }, now)) !== mine) throw new Refused(refusal);
  try {
    return await work();
  } finally {
    // If the work outlasted the lock's expiry, another process may hold the lock by now.
    if ((await secrets.get(name, clock())) === mine) await secrets.delete(name);
  }
}
