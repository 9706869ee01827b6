// Seals the log for as long as the process holds the lease, in small steps between which the thread does its own work.

import { ALL_CATEGORIES } from "../../events/streams.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { inTime, type MonotonicClock, systemClock } from "../../runtime/pause.ts";
import { pageSource } from "../../stores/event-store/log-source.ts";
import { RevisionConflict } from "../../stores/event-store/port.ts";
import type { SharedLog } from "../../stores/event-store/shared-log.ts";
import { SEALING_PAGE, Sealer, type SealerDeps, sealAll } from "./sealer.ts";

export type KeepSealingDeps = SealerDeps & {
  eventStore: Pick<SharedLog, "subscribeStored">;
  log: Pick<BasicLogger, "info" | "warn">;
};

/** The start has more urgent work. */
const FIRST_AFTER_MS = 5_000;
const LOOK_EVERY_MS = 1_000;
const RETRY_AFTER_MS = 60_000;
/** Rest after each step of a long log, as a multiple of its time: a fifth of the thread, whose other work is urgent. */
const REST = 4;
/** Without a new event for so long, what is unsealed is sealed. */
const QUIET_MS = 60_000;
/** With new events all the while, but too few for a block; or with a few clicks, as a seal is larger than these. */
const LONGEST_UNSEALED_MS = 3_600_000;
const FEW_CLICKS = 100;
/** Of the stop's time. */
const LAST_SEAL_MS = 4_000;

/** Ends when the signal aborts, with a seal over what is left: whoever aborts it has ended all that appends before. */
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
  const sealing = sealAll(deps).then(() => true);
  try {
    if (!(await inTime(LAST_SEAL_MS, sealing, clock.sleep))) throw new Error("There was no time left");
  } catch (err) {
    deps.log.warn({ err }, "the end of the log is not sealed");
  }
}

async function sealUntilAborted(
  deps: KeepSealingDeps,
  signal: AbortSignal,
  { now, sleep }: MonotonicClock,
): Promise<void> {
  const sealer = await Sealer.open(deps);
  const part = { after: sealer.reached, categories: ALL_CATEGORIES, batchSize: SEALING_PAGE };
  const follow = (until: AbortSignal) => deps.eventStore.subscribeStored({ ...part, signal: until });
  const source = pageSource(follow, { signal, sleep });
  let [firstAt, newestAt, before] = [0, 0, 0];
  let hasMore = false;
  try {
    while (!signal.aborted) {
      const askedAt = now();
      const page = await source.next(LOOK_EVERY_MS);
      // Without more events it has waited for one.
      const startedAt = hasMore ? askedAt : now();
      if (page) await sealer.take(page);
      hasMore = page?.events.length === SEALING_PAGE;
      const took = now();
      const { events, clicks } = sealer.unsealed;
      if (before === 0 || events < before) firstAt = took;
      if (events !== before) newestAt = took;
      const isOnlyFewClicks = events === clicks && clicks < FEW_CLICKS;
      const isQuiet = took - newestAt >= QUIET_MS && !isOnlyFewClicks;
      const isDue = events > 0 && (isQuiet || took - firstAt >= LONGEST_UNSEALED_MS);
      if (!hasMore && (sealer.hasKeyChanged || isDue)) {
        const { number, events: count, position } = await sealer.seal();
        deps.log.info({ number, events: count, position }, "sealed the log");
      }
      before = sealer.unsealed.events;
      if (hasMore) await sleep(REST * (now() - startedAt), signal);
    }
  } finally {
    await source.close();
  }
}
