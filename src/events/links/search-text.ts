// The text by which a list of links is searched, and the words of a search, both folded: case, accents and compatible forms
// make no difference in any script.
import type { LinkOptions } from "../link-options.ts";

/** Accents of Latin, Greek and Cyrillic letters, and the vowel signs of Hebrew and Arabic, which people leave out. */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: no text has them, and stores can't search for NUL
const BETWEEN_WORDS = /[\s\u0000-\u001f]+/;

/** Case and accents make no difference in it. By way of upper case, which makes `SS` of `ß`; a final sigma is a sigma. */
export function folded(text: string): string {
  const plain = text.toWellFormed().toUpperCase().normalize("NFKD").replace(MARKS, "");
  return plain.toUpperCase().toLowerCase().replaceAll("ς", "σ");
}

/** A field a line, so that no word is found across two. */
export function searchText(link: LinkOptions & { shortUrl: string; longUrl: string }): string {
  const { shortUrl, longUrl, title = "", comments = "", externalId = "", tags = [] } = link;
  return folded([shortUrl, longUrl, title, externalId, ...tags, comments].join("\n"));
}

/** All of them must be parts of a link's text. */
export function searchWords(text: string): string[] {
  return [...new Set(folded(text).split(BETWEEN_WORDS))].filter((word) => word !== "");
}
