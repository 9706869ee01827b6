// Cuts texts that others chose, wherever they are shortened: never inside of what people see as one character.
const CHARACTERS = new Intl.Segmenter("en", { granularity: "grapheme" });
/** UTF-16 units of a character as people see it, such as a family's emoji; what is longer is cut inside it. */
const LONGEST_CHARACTER = 64;

/** At most `max` UTF-16 units, which end before a character that would be cut, such as an emoji. */
export function cutText(text: string, max: number): string {
  if (text.length <= max) return text;
  const around = CHARACTERS.segment(text.slice(0, max + LONGEST_CHARACTER)).containing(max);
  const start = around?.index ?? max;
  if (max - start <= LONGEST_CHARACTER) return text.slice(0, start);
  return text.slice(0, max - (/[\ud800-\udbff]/.test(text.charAt(max - 1)) ? 1 : 0));
}
