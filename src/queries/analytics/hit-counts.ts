// Hits by kind and in all: of a point of a series, of all its points, or of what a document has counted.
import { CLICK_KINDS, type ClickKind } from "../../events/vocabulary.ts";
import type { QuarterHour } from "../../projections/definitions/days/days.ts";

export type HitCounts = Record<ClickKind, number> & { total: number };

/** As a document has counted them; zeros where there is none. */
export function hitCounts(counted: Partial<Record<ClickKind, number>> = {}): HitCounts {
  const { click = 0, preview = 0, qr_scan = 0 } = counted;
  return { click, preview, qr_scan, total: click + preview + qr_scan };
}

/** Counts the hits of these kinds, in place. */
export function addHits(counts: HitCounts, [, ...hits]: QuarterHour, kinds: readonly ClickKind[]): void {
  for (const kind of kinds) {
    const count = hits[CLICK_KINDS.indexOf(kind)] ?? 0;
    counts[kind] += count;
    counts.total += count;
  }
}

export function sumOf(points: readonly HitCounts[]): HitCounts {
  const sum = hitCounts();
  for (const point of points)
    for (const field of [...CLICK_KINDS, "total"] as const) sum[field] += point[field];
  return sum;
}
