// Seals the log for as long as the process holds the lease, in small steps between which the thread does its own work.

import { inTime, type MonotonicClock, systemClock } from "../../runtime/pause.ts";
import { RevisionConflict } from "../../stores/event-store/port.ts";
import { Sealer, type SealerDeps } from "./sealer.ts";

export type KeepSealingDeps = SealerDeps & {
  /** Whether the projections of this thread have more events to fold than one commit takes. */
  hasBacklog: () => boolean;
  log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
};

/** The start has more urgent work. */
const FIRST_AFTER_MS = 5_000;
/** While events come: soon after the projections, when the thread's event store still has what it decoded for them. */
const BUSY_LOOK_MS = 100;
/** After a look that found nothing. */
const QUIET_LOOK_MS = 1_000;
const RETRY_AFTER_MS = 60_000;
/** Rest after each step, as a multiple of its time: a long log to catch up with takes half of the thread. */
const REST = 1;
/** A tenth of the thread: callers wait for clicks to be shown, and a seal that comes later binds them as well. */
const REST_IN_BACKLOG = 9;
/** Without a new event for so long, what is unsealed is sealed. */
const QUIET_MS = 60_000;
/** With new events all the while, but too few for a block. */
const LONGEST_UNSEALED_MS = 3_600_000;
/** Of the stop's time; half of it is for reading what is new. */
const LAST_SEAL_MS = 2_000;

/** Ends when the signal aborts, with a seal over what is left. */
export async function keepSealing(
  deps: KeepSealingDeps,
  signal: AbortSignal,
  clock: MonotonicClock = systemClock,
): Promise<void> {
  await clock.sleep(FIRST_AFTER_MS, signal);
  while (!signal.aborted) {
    try {
      await sealUntilAborted(deps, signal, clock);
    } catch (err) {
      // Another process has sealed: `audit seal`, or one that still believed it had the lease.
      if (err instanceof RevisionConflict) continue;
      if (!signal.aborted) deps.log.warn({ err }, "the log is not being sealed");
      await clock.sleep(RETRY_AFTER_MS, signal);
    }
  }
  // The append says which seal is the last one: after a lost lease it can't get between those of the next holder.
  await inTime(LAST_SEAL_MS, sealRest(deps, clock), clock.sleep).catch((err: unknown) => {
    if (!(err instanceof RevisionConflict)) deps.log.warn({ err }, "the end of the log is not sealed");
  });
}

async function sealRest(deps: KeepSealingDeps, { now }: MonotonicClock): Promise<void> {
  const end = now() + LAST_SEAL_MS / 2;
  const sealer = await Sealer.open(deps);
  while ((await sealer.read()) && now() < end);
  if (sealer.unsealed > 0) await sealer.seal();
}

async function sealUntilAborted(
  deps: KeepSealingDeps,
  signal: AbortSignal,
  { now, sleep }: MonotonicClock,
): Promise<void> {
  const sealer = await Sealer.open(deps);
  let [firstAt, newestAt] = [0, 0];
  while (!signal.aborted) {
    const started = now();
    const before = sealer.unsealed;
    const hasMore = await sealer.read();
    const isQuiet = sealer.unsealed === before;
    if (before === 0 || sealer.unsealed < before) firstAt = started;
    if (!isQuiet) newestAt = started;
    const isDue = started - newestAt >= QUIET_MS || started - firstAt >= LONGEST_UNSEALED_MS;
    if (!hasMore && (sealer.hasKeyChanged || (sealer.unsealed > 0 && isDue))) {
      const { number, events, position } = await sealer.seal();
      deps.log.info({ number, events, position }, "sealed the log");
    }
    const rest = deps.hasBacklog() ? REST_IN_BACKLOG : REST;
    const lookMs = isQuiet ? QUIET_LOOK_MS : BUSY_LOOK_MS;
    await sleep(hasMore ? rest * (now() - started) : lookMs, signal);
  }
}
