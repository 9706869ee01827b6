// What proves an explanation of a link, as one word and one sentence.
import { amount } from "../../audit/verdict.ts";
import type { Position } from "../../event-store/port.ts";

/** `sealed`: nothing wrong was seen, and nothing was recomputed. */
type Verdict = "proved" | "sealed" | "unsealed" | "problem";

type Evidence = {
  /** Of the link and its withdrawals. */
  events: number;
  /** Hits that count, as of the event at `up_to`. `recounted`: whether the log was counted again now. */
  clicks: { total: number; up_to: Position | null; recounted: boolean };
  /** `recomputed`: whether the blocks of these seals were compared with the log now. */
  seals: {
    numbers: readonly number[];
    sealed: number;
    unsealed: number;
    newest: Position | null;
    recomputed: boolean;
  };
  problems: readonly string[];
};

export function proofOf(evidence: Evidence): { verdict: Verdict; sentence: string } {
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
  const [was, lies] = sealed === 1 ? ["is as it was", "lies"] : ["are as they were", "lie"];
  const by = sealsText(seals);
  if (seals.recomputed)
    return { verdict: "proved", sentence: `Proved: ${covered} ${was} sealed by ${by}${rest}; ${clicks}.` };
  const sentence = `Nothing wrong was seen: ${covered} ${lies} under ${by}, which verifying the log checks${rest}; ${clicks}.`;
  return { verdict: "sealed", sentence };
}

function sealsText({ numbers }: Evidence["seals"]): string {
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
