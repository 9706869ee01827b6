// Events a second of each projection in this process, from how many it has folded since it was last asked.
import type { ProjectionStatus } from "../../projections/runner/status.ts";

/** By projection; without those that this process does not fold. */
export type LiveRates = () => Promise<ReadonlyMap<string, number>>;

/** Shorter times give numbers that say nothing. */
const LEAST_MS = 1_000;

/** `now`: monotonic milliseconds. */
export function liveRates(
  projections: () => Promise<readonly Pick<ProjectionStatus, "name" | "processed">[]>,
  now: () => number,
): LiveRates {
  let last: { at: number; processed: ReadonlyMap<string, number> } | undefined;
  let rates: ReadonlyMap<string, number> = new Map();
  return async () => {
    const at = now();
    if (last && at - last.at < LEAST_MS) return rates;
    const processed = new Map(
      (await projections())
        .filter(({ processed: events }) => events > 0)
        .map(({ name, processed: events }) => [name, events]),
    );
    const before = last;
    last = { at, processed };
    if (before)
      rates = new Map(
        [...processed].map(([name, events]) => {
          const more = Math.max(0, events - (before.processed.get(name) ?? events));
          return [name, Math.round((more * 1_000) / (at - before.at))];
        }),
      );
    return rates;
  };
}
