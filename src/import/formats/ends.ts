// Links that end by themselves, which links here can't: those that have ended are disabled, others are refused.
import { Refused } from "../../runtime/refused.ts";
import type { ImportedChange } from "../imported.ts";

/** @throws record_refused for an end that is still to come */
export function endAt(end: string | undefined, now: Date): ImportedChange[] {
  if (end === undefined) return [];
  if (end > now.toISOString())
    throw new Refused("record_refused", `it ends at ${end}, which links here can't`);
  return [{ at: end, change: { type: "disable" } }];
}
