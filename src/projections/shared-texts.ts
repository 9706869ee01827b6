// Lets what is kept in memory share its equal texts: each decoded batch brings its own "Berlin, DE" and user agents.

/** Texts of either generation; those of the older one that aren't met again are forgotten with it. */
const TEXTS = 4_096;
/** V8 shares shorter texts itself, as far as they come from JSON. */
const SHORTEST = 11;

/** Gives the same object for equal texts. */
export type SharedTexts = (text: string) => string;

/** For documents that aren't kept. */
export const asGiven: SharedTexts = (text) => text;

/** Gives for equal texts the one that came first, as long as it is among some thousands that were met lately. */
export function sharedTexts(): SharedTexts {
  let recent = new Map<string, string>();
  let older = recent;
  return (text) => {
    if (text.length < SHORTEST) return text;
    const known = recent.get(text);
    if (known !== undefined) return known;
    const shared = older.get(text) ?? text;
    if (recent.size >= TEXTS) [older, recent] = [recent, new Map()];
    recent.set(shared, shared);
    return shared;
  };
}
