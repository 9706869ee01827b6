// Sanitises header values, which are untrusted, before they go into an event: printable, well-formed and bounded.

/** Control characters become spaces, lone surrogates U+FFFD; trimmed; at most `max` UTF-16 units. */
export function cleanText(text: string, max: number): string {
  if (text === "") return "";
  const short = text.length > max ? text.slice(0, max) : text;
  return short
    .replace(/[\p{Cc}\u2028\u2029]/gu, " ")
    .toWellFormed()
    .trim();
}
