// Compares the redirects that were answered with the clicks that are in the log, and prints the sum.

import type { LinkClicked } from "../../../src/events/catalogue.ts";
import { CATEGORY } from "../../../src/events/streams.ts";
import type { EventStore } from "../../../src/stores/event-store/port.ts";
import { loggedEvents } from "../event-store/logged-events.ts";
import { printCounts } from "../runtime/print-counts.ts";
import type { RedirectLoad } from "./redirect-load.ts";

/** `lost`: answered and not in the log. `lostAnsweredAt`: milliseconds since 1970 of their answers. */
export async function reckonClicks(
  what: string,
  loads: readonly RedirectLoad[],
  log: Pick<EventStore, "readAll">,
) {
  const times = await timesInLog(log);
  const all = <T>(of: (load: RedirectLoad) => Iterable<T>) => loads.flatMap((load) => [...of(load)]);
  const sent = all((load) => load.sent);
  const answered = all((load) => load.answered);
  const lost = answered.filter(([mark]) => !times.has(mark));
  const counts = {
    redirects: sent.length,
    answered: answered.length,
    failed: all((load) => load.failed).length,
    lost: lost.length,
    doubled: sent.filter((mark) => (times.get(mark) ?? 0) > 1).length,
    "ms median": Math.round(
      quantile(
        answered.map(([, { ms }]) => ms),
        0.5,
      ),
    ),
    "ms at most": Math.round(
      quantile(
        answered.map(([, { ms }]) => ms),
        1,
      ),
    ),
  };
  printCounts(what, counts);
  return { ...counts, lostAnsweredAt: lost.map(([, { at }]) => at) };
}

async function timesInLog(log: Pick<EventStore, "readAll">): Promise<Map<string, number>> {
  const times = new Map<string, number>();
  for (const event of await loggedEvents(log, { categories: [CATEGORY.clicks], limit: 1_000_000 })) {
    if (event.type !== "LinkClicked") continue;
    const mark = (event.data as LinkClicked["data"]).utm?.content ?? "";
    times.set(mark, (times.get(mark) ?? 0) + 1);
  }
  return times;
}

function quantile(values: number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? 0;
}
