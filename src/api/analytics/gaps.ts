// Times of an answer in which clicks were not recorded.
import { z } from "zod";
import type { ClickGap } from "../../projections/definitions/click-gaps.ts";

const time = z.string().meta({ format: "date-time" });

export const GapsSchema = z
  .array(z.object({ from: time, until: time, hits: z.int().meta({ minimum: 1 }) }))
  .optional()
  .meta({
    description:
      "Where the service led visitors on and could not record the clicks, which the numbers lack: the first, the last, and how many of all its links. Absent for none",
  });

/** `iso`: in the zone of the answer. */
export function gapsAnswer(
  gaps: readonly ClickGap[],
  iso: (instant: number) => string,
): { gaps?: ClickGap[] } {
  const inZone = (time: string) => iso(Date.parse(time));
  if (gaps.length === 0) return {};
  return { gaps: gaps.map(({ from, until, hits }) => ({ from: inZone(from), until: inZone(until), hits })) };
}
