// What a verification of the log comes to: one word, one sentence and one exit code that can't be misread.
import type { SealHeader } from "./seals/judge-seals.ts";
import type { LogProblem } from "./seals/places.ts";

export type Verdict = "proved" | "problem" | "unsealed";

/** Of `audit verify`. Other errors of a command have 1, too. */
export const EXIT_CODES: Readonly<Record<Verdict, number>> = { proved: 0, problem: 1, unsealed: 3 };

export type Evidence = {
  problemCount: number;
  problems: readonly LogProblem[];
  /** The newest good one. */
  seal: SealHeader | undefined;
  /** Where the trust in its key comes from, such as `of SECRET_KEY`. */
  keyOrigin: string;
  /** Events that were compared with seals, and those that no seal covers. */
  sealed: number;
  unsealed: number;
  /** Of an exported file, which may hold a part of the log. */
  isPart?: boolean;
};

export type Judgement = { ok: boolean; verdict: Verdict; sentence: string };

export function verdictOf(evidence: Evidence): Judgement {
  const { problemCount, problems, seal, unsealed } = evidence;
  if (problemCount > 0) {
    const [first] = problems;
    const named = first ? `, the first ${placeText(first)}: ${first.message}` : "";
    const sentence = `Not proved: ${amount(problemCount, "problem")} found${named}${unsealedText(evidence)}.`;
    return { ok: false, verdict: "problem", sentence };
  }
  if (seal)
    return {
      ok: true,
      verdict: "proved",
      sentence: `${provedText(evidence, seal)}${unsealedText(evidence)}.`,
    };
  const sentence =
    unsealed === 0
      ? "Nothing is proved: there are no events yet."
      : `Nothing is proved: no seal covers any of ${amount(unsealed, "event")}, which could have been changed unseen.`;
  return { ok: false, verdict: "unsealed", sentence };
}

function provedText({ sealed, keyOrigin, isPart = false }: Evidence, seal: SealHeader): string {
  const { position, at, publicKey } = seal;
  const all = sealed === 1 ? "the one event" : `all ${amount(sealed, "event")}`;
  const what = isPart
    ? `${amount(sealed, "event")} of this file are`
    : `${all} up to position ${position} are`;
  return `Proved: ${what} as they were sealed until ${at} with the key ${publicKey} ${keyOrigin}`;
}

function unsealedText({ unsealed }: Evidence): string {
  if (unsealed === 0) return "; no event is without a seal";
  return `; ${amount(unsealed, "later event")} ${unsealed === 1 ? "has" : "have"} no seal yet and could be changed unseen`;
}

function placeText({ stream, revision, position }: LogProblem): string {
  const at = position === "" ? "" : ` at position ${position}`;
  return stream === "" || revision < 0 ? `in the log${at}` : `in ${stream}, revision ${revision}${at}`;
}

/** Such as `1 event`, `12,345 events`. */
export function amount(number: number, noun: string): string {
  return `${number.toLocaleString("en-US")} ${noun}${number === 1 ? "" : "s"}`;
}
