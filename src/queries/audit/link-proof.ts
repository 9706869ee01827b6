// What proves an explanation of a link, as one word and one sentence.
import { amount } from "../../audit/verdict.ts";
import type { Position } from "../../event-store/port.ts";
import type { HitCounts } from "../analytics/sums.ts";

/** Hits that count, by kind, as of the event at `up_to`. `recounted`: whether the log was counted again now. */
export type ExplainedClicks = HitCounts & {
  first_at: string | null;
  last_at: string | null;
  up_to: Position | null;
  recounted: boolean;
};

/** `recomputed`: whether the blocks of these seals were compared with the log now. */
export type ExplainedSeals = {
  numbers: number[];
  sealed: number;
  unsealed: number;
  newest: Position | null;
  recomputed: boolean;
};

/** `sealed`: nothing wrong was seen, and nothing was recomputed. */
export type LinkProof = { verdict: "proved" | "sealed" | "unsealed" | "problem"; sentence: string };

type Evidence = {
  /** Of the link and its withdrawals. */
  events: number;
  clicks: ExplainedClicks;
  seals: ExplainedSeals;
  problems: readonly string[];
};

export function proofOf(evidence: Evidence): LinkProof {
  const { seals, problems } = evidence;
  const clicks = clicksText(evidence);
  const [first] = problems;
  if (first !== undefined) {
    const more = problems.length > 1 ? `, and ${problems.length - 1} more` : "";
    return { verdict: "problem", sentence: `Not as it should be: ${first}${more}; ${clicks}.` };
  }
  const { sealed, unsealed } = seals;
  const all = evidence.events === 1 ? "its only event" : `its ${amount(evidence.events, "event")}`;
  if (sealed === 0)
    return { verdict: "unsealed", sentence: `Nothing is proved: no seal covers ${all} yet; ${clicks}.` };
  const covered = unsealed === 0 ? all : `${sealed} of ${all}`;
  const rest = unsealed === 0 ? "" : `, and no seal covers the other ${unsealed} yet`;
  const isOne = sealed === 1;
  if (seals.recomputed)
    return {
      verdict: "proved",
      sentence: `Proved: ${covered} ${isOne ? "is as it was" : "are as they were"} sealed by ${sealsText(seals)}${rest}; ${clicks}.`,
    };
  return {
    verdict: "sealed",
    sentence: `Nothing wrong was seen: ${covered} ${isOne ? "lies" : "lie"} under ${sealsText(seals)}, which verifying the log checks${rest}; ${clicks}.`,
  };
}

function sealsText({ numbers }: ExplainedSeals): string {
  const [first, last] = [numbers[0], numbers.at(-1)];
  return first === last ? `seal ${first}` : `${numbers.length} of the seals ${first} to ${last}`;
}

function clicksText({ clicks, seals }: Evidence): string {
  const { total, up_to: upTo, recounted } = clicks;
  if (upTo === null) return "no click is counted";
  const cover =
    seals.newest !== null && upTo <= seals.newest ? "under seals too" : "the last under no seal yet";
  const counted = recounted ? "counted again in the log" : "counted as they came";
  return `${amount(total, "hit")} up to position ${upTo} (${cover}) were ${counted}`;
}
