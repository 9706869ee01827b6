// Which clicks of a time were not recorded: beside the numbers of that time, which lack them.
import {
  ALL_GAPS,
  type ClickGap,
  type ClickGapsDocument,
  clickGaps,
} from "../../projections/definitions/click-gaps.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";

/** Those that have a part in the time, oldest first. `from` inclusive, `to` exclusive, in milliseconds. */
export async function gapsBetween(
  readStore: Pick<ReadStore, "get">,
  from: number,
  to: number,
): Promise<ClickGap[]> {
  const document = await readStore.get<ClickGapsDocument>(clickGaps.collection.name, ALL_GAPS);
  const inside = (document?.gaps ?? []).filter((gap) => isWithin(gap, from, to));
  return inside.sort((a, b) => (a.from < b.from ? -1 : 1));
}

export function isWithin(gap: ClickGap, from: number, to: number): boolean {
  return Date.parse(gap.until) >= from && Date.parse(gap.from) < to;
}
