// What fields of a link and conditions of its rules are made of: texts and times with their bounds, and how they are read.
import { z } from "zod";
import { cleanText } from "../../../events/classification/clean-text.ts";
import { MOMENT_EXAMPLE, parseMoment } from "../../../runtime/moment.ts";

const TIME = `must be ${MOMENT_EXAMPLE}`;

/** Composed, so that a text counts as many characters whichever system typed it. */
export const text = (most: number) =>
  z.string("must be a text").normalize("NFC").max(most, `must have at most ${most} characters`);
/** A text of which something is left when it is cleaned. */
export const filled = (most: number) =>
  text(most).refine((value) => cleanText(value, most) !== "", "must not be empty");
export const time = z.string(TIME).refine((value) => parseMoment(value) !== undefined, TIME);

/** ISO 8601 UTC of a time that the schema takes. */
export function utc(text: string): string {
  return (parseMoment(text) as Date).toISOString();
}
