// How many hits links have in their whole life, by kind.
import { CLICK_KINDS, type ClickKind } from "../../events/vocabulary.ts";
import { type LinkTotalsDocument, linkTotals } from "../../projections/definitions/link-totals.ts";
import { documentsById } from "../../stores/read-store/document-pages.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";

export type HitCounts = Record<ClickKind, number> & { total: number };

/** Zeros where nothing is counted. */
export function hitCounts(counted: Partial<Record<ClickKind, number>> = {}): HitCounts {
  const { click = 0, preview = 0, qr_scan = 0 } = counted;
  return { click, preview, qr_scan, total: click + preview + qr_scan };
}

/** In the order of the keys (linkKey). */
export async function hitsOfLinks(
  { readStore }: { readStore: ReadStore },
  keys: readonly string[],
): Promise<HitCounts[]> {
  const counted = await documentsById<LinkTotalsDocument>(readStore, linkTotals.name, keys, CLICK_KINDS);
  return keys.map((key) => hitCounts(counted.get(key)));
}
