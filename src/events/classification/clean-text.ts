// The one sanitiser of texts from outside before they go into an event: printable, composed, well-formed and bounded.
import { cutText } from "../../runtime/text/cut-text.ts";

/** Control characters, breaks of lines, and what turns the direction of the text around it (Unicode TR 36, 2.5). */
const UNPRINTABLE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;
/** Every text below is in the form NFC. */
const MAY_COMPOSE = /[\u0300-\uffff]/;

/**
 * In the form NFC, so that a text typed on another system is the same; what can't be printed becomes a space, half of a
 * surrogate pair U+FFFD; trimmed; at most `max` UTF-16 units.
 */
export function cleanText(text: string, max: number): string {
  if (text === "") return "";
  return cutText(composed(text), max).replace(UNPRINTABLE, " ").toWellFormed().trim();
}

/** The form NFC. */
export function composed(text: string): string {
  return MAY_COMPOSE.test(text) ? text.normalize("NFC") : text;
}
