// The text by which a list of links is searched, and the words of a search, both folded: case, accents and compatible forms
// make no difference in any script, and addresses are found as they are stored and as they are shown.
import { domainToUnicode } from "node:url";
import type { LinkOptions } from "../link-options.ts";

/** Accents of Latin, Greek and Cyrillic letters, and the vowel signs of Hebrew and Arabic, which people leave out. */
const MARKS = /[\u0300-\u036f\u0591-\u05c7\u064b-\u065f]/g;
/** Latin letters that Unicode does not take apart, as they are written without them (CLDR, Latin-ASCII). */
const PLAIN_LETTERS: Readonly<Record<string, string>> = {
  ...{ Æ: "AE", Ð: "D", Ø: "O", Þ: "TH", Đ: "D", Ħ: "H", Ł: "L", Ŋ: "N", Œ: "OE", Ŧ: "T", ẞ: "SS" },
};
const LETTERS = new RegExp(`[${Object.keys(PLAIN_LETTERS).join("")}]`, "g");
// biome-ignore lint/suspicious/noControlCharactersInRegex: no text has them, and stores can't search for NUL
const BETWEEN_WORDS = /[\s\u0000-\u001f]+/;
/** Each of one character in UTF-8. */
const CODES =
  /%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3}/gi;
/** What is left of one at the end of a text that is being typed. */
const CUT_CODE = /%(?:[c-f][\da-f]?(?:%[89ab][\da-f])*(?:%[89ab]?)?)?$/i;
const HOST = /^(https?:\/\/)([^/?#:]+)/i;

/** Case and accents make no difference in it. By way of upper case, which makes `SS` of `ß`; a final sigma is a sigma. */
export function folded(text: string): string {
  const plain = text.toWellFormed().toUpperCase().normalize("NFKD").replace(MARKS, "").toUpperCase();
  return plain
    .replace(LETTERS, (letter) => PLAIN_LETTERS[letter] ?? letter)
    .toLowerCase()
    .replaceAll("ς", "σ");
}

/** A field a line, so that no word is found across two. Addresses stand in it in each way that they are written. */
export function searchText(link: LinkOptions & { shortUrl: string; longUrl: string }): string {
  const { shortUrl, longUrl, title = "", comments = "", externalId = "", tags = [] } = link;
  const fields = [shortUrl, longUrl, title, externalId, ...tags, comments];
  const spelt = [...fields, ...fields.map((field) => field.replace(HOST, shownHost))];
  const all = new Set([...spelt, ...spelt.map(decoded)].map(folded));
  return [...all].join("\n");
}

/** All of them must be parts of a link's text. */
export function searchWords(text: string): string[] {
  const words = text.split(BETWEEN_WORDS).map((word) => {
    const plain = decoded(word);
    // In an address as it is shown some characters stay codes. What is plain ASCII is searched as it is, such as 100%.
    const isShown = plain !== word || !isAscii(word);
    return folded(isShown ? plain.replace(CUT_CODE, "") : word);
  });
  // Folding and decoding make spaces of some characters.
  return [...new Set(words.flatMap((word) => word.split(BETWEEN_WORDS)))].filter((word) => word !== "");
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length;
}

function shownHost(_: string, scheme: string, host: string): string {
  return scheme + (domainToUnicode(host) || host);
}

/** Codes of what is no UTF-8 stay as they are. */
function decoded(text: string): string {
  return text.replace(CODES, (codes) => {
    try {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: as between words
      return decodeURIComponent(codes).replace(/[\u0000-\u001f]/, " ");
    } catch {
      return codes;
    }
  });
}
