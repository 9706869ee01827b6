// The names that owners give their keys and webhooks: one rule for both.
import { cleanText } from "../classification/clean-text.ts";

const MAX_LABEL_LENGTH = 100;

export function acceptLabel(given: string): string {
  return cleanText(given.trim(), MAX_LABEL_LENGTH);
}
