// The one sanitiser of texts from outside before they go into an event: printable, composed, well-formed and bounded.
/** Control characters, breaks of lines, and what turns the direction of the text around it (Unicode TR 36, 2.5). */
const UNPRINTABLE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;
/** Every text below is in the form NFC. */
const MAY_COMPOSE = /[\u0300-\uffff]/;
const CHARACTERS = new Intl.Segmenter("en", { granularity: "grapheme" });
/** UTF-16 units of a character as people see it, such as a family's emoji; what is longer is cut inside it. */
const LONGEST_CHARACTER = 64;

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

/** At most `max` UTF-16 units, which end before a character that would be cut, such as an emoji. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const around = CHARACTERS.segment(text.slice(0, max + LONGEST_CHARACTER)).containing(max);
  const start = around?.index ?? max;
  if (max - start <= LONGEST_CHARACTER) return text.slice(0, start);
  return text.slice(0, max - (/[\ud800-\udbff]/.test(text.charAt(max - 1)) ? 1 : 0));
}
