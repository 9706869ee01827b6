// Texts that people type: the names that owners give their keys and webhooks, and the reasons of operators, which
// the owner of a link is told. One rule for each.
import { cleanText } from "../events/classification/clean-text.ts";
import { Refused } from "./refusals.ts";

const MAX_LABEL_LENGTH = 100;

export function acceptLabel(text: string): string {
  return cleanText(text.trim(), MAX_LABEL_LENGTH);
}

export const MOST_REASON = 500;

/** @throws invalid_reason */
export function acceptReason(text: string): string {
  const reason = boundedText(text, MOST_REASON);
  if (reason === "") throw new Refused("invalid_reason", `A reason has 1 to ${MOST_REASON} characters`);
  return reason;
}

/** Printable; empty for a text that is too long, which is refused as an empty one is. */
export function boundedText(text: string, most: number): string {
  const clean = cleanText(text.trim(), most + 1);
  return clean.length > most ? "" : clean;
}
