// Which rule led a hit and where, as one value of a tally, so that what an A/B test has found stays with its destination.

import { hash } from "node:crypto";
import { cutText } from "../../runtime/text/cut-text.ts";

/** An id and a longer destination would be cut by the tally, and two be taken for one. */
const LONGEST = 150;
const CODE_CHARACTERS = 12;

/** `rule`: as of LinkClicked. `destination`: of shortDestination. */
export function ruleHit(rule: string, destination: string): string {
  return `${rule} ${destination}`;
}

/** A long one is cut, and told apart from others by a code. */
export function shortDestination(longUrl: string): string {
  if (longUrl.length <= LONGEST) return longUrl;
  const code = hash("sha256", longUrl).slice(0, CODE_CHARACTERS);
  return `${cutText(longUrl, LONGEST).toWellFormed()}… ${code}`;
}

export function partsOfRuleHit(value: string): { rule: string; destination: string } {
  const at = value.indexOf(" ");
  return { rule: value.slice(0, at), destination: value.slice(at + 1) };
}
