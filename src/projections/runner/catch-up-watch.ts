// Logs and reports the progress of a group while it catches up with a long log, such as at a start with an empty read store.

import type { BasicLogger } from "../../runtime/logging.ts";
import { logProgress } from "../../stores/event-store/log-progress.ts";
import { describeProgress, type Progress, progressOf } from "./progress.ts";
import { LATE_MS, type ProjectionStatus } from "./status.ts";

export type CatchUpWatchDeps = {
  /** Name of the group in the log. */
  group: string;
  /** Monotonic milliseconds. */
  now: () => number;
  log: Pick<BasicLogger, "info">;
};

const LOG_EVERY_MS = 5_000;

/**
 * Returns a function to be called with each new status. From when a projection is late until none is behind, it adds the
 * progress of the one with the lowest position to all that are behind, except builds, which have their own, and logs it
 * every five seconds and at the end.
 */
export function catchUpWatch({
  group,
  now,
  log,
}: CatchUpWatchDeps): (statuses: ProjectionStatus[]) => ProjectionStatus[] {
  let start: { at: number; done: number; processed: number } | undefined;
  let loggedAt = Number.NEGATIVE_INFINITY;

  const report = (message: string, progress: Progress) => {
    loggedAt = now();
    log.info({ group, ...progress }, `${message}: ${describeProgress(progress)}`);
  };
  return (statuses) => {
    const slowest = slowestOf(statuses);
    if (!slowest && start) {
      const events = Math.max(...statuses.map(({ processed }) => processed)) - start.processed;
      report("projections have caught up", progressOf(events, now() - start.at, 1, start.done));
      start = undefined;
      loggedAt = Number.NEGATIVE_INFINITY;
    }
    if (!slowest || (!start && slowest.lagMs <= LATE_MS)) return statuses;
    const { position, head, processed, catchUp } = slowest;
    const done = logProgress(position ?? "0", head ?? "0");
    start ??= { at: now(), done, processed };
    // A build's own progress counts what it has read, of which its position shows nothing until the next commit.
    const progress = catchUp ?? progressOf(processed - start.processed, now() - start.at, done, start.done);
    if (now() - loggedAt >= LOG_EVERY_MS) report("projections catch up", progress);
    return statuses.map((status) => (isBehind(status) ? { catchUp: progress, ...status } : status));
  };
}

function isBehind({ behind, waitsFor }: ProjectionStatus): boolean {
  return behind && !waitsFor;
}

function slowestOf(statuses: readonly ProjectionStatus[]): ProjectionStatus | undefined {
  return statuses.filter(isBehind).sort((a, b) => ((a.position ?? "") < (b.position ?? "") ? -1 : 1))[0];
}
