// The one sanitiser of texts from outside before they go into an event: printable, well-formed and bounded.
/** Control characters, breaks of lines, and what turns the direction of the text around it (Unicode TR 36, 2.5). */
const UNPRINTABLE = /[\p{Cc}\u2028-\u202e\u2066-\u2069]/gu;

/** What can't be printed becomes a space, half of a surrogate pair U+FFFD; trimmed; at most `max` UTF-16 units. */
export function cleanText(text: string, max: number): string {
  if (text === "") return "";
  const short = text.length > max ? text.slice(0, max) : text;
  return short.replace(UNPRINTABLE, " ").toWellFormed().trim();
}
