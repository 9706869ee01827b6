// The names that owners give their keys and webhooks: one rule for both.

const MAX_LABEL_LENGTH = 100;

/** Well-formed also where a character is cut in two: JSON parsers refuse half of a surrogate pair. */
export function acceptLabel(given: string): string {
  return given.trim().slice(0, MAX_LABEL_LENGTH).toWellFormed();
}
