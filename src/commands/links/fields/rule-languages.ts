// Whether a visitor can send a language tag that a rule names. Apart from reading tags, as the names of languages take some
// 20 ms to load, which threads that only record clicks need not.
import { presentTag } from "../../../events/classification/languages.ts";

const MOST_CHARACTERS = 35;
const [languages, regions, scripts] = (["language", "region", "script"] as const).map(
  (type) => new Intl.DisplayNames("en", { type, fallback: "none" }),
) as [Intl.DisplayNames, Intl.DisplayNames, Intl.DisplayNames];

const LETTERS = [..."abcdefghijklmnopqrstuvwxyz"];
const CODES = LETTERS.flatMap((first) => LETTERS.map((second) => first + second));
/** By English names in lower case. */
const TAGS_BY_NAME = new Map(CODES.map((code) => [languages.of(code)?.toLowerCase(), code]));

/** Why no visitor can send the tag, with the one that is meant where it can be told; undefined where they can. */
export function languageProblem(tag: string): string | undefined {
  const written = tag.length > MOST_CHARACTERS ? undefined : presentTag(tag);
  if (written === undefined) return "is no language tag";
  if (written.toLowerCase() !== tag.toLowerCase()) return `is written ${written}`;
  if (isKnown(tag)) return undefined;
  const meant = tagOfLanguage(tag);
  return `is no language tag${meant === undefined ? "" : `, but ${meant} is`}`;
}

/** `en` for `English`; undefined for what is no name of a language in English. */
export function tagOfLanguage(name: string): string | undefined {
  return TAGS_BY_NAME.get(name.toLowerCase());
}

/** All codes of three letters are taken, as nobody names all of them. */
function isKnown(tag: string): boolean {
  const { language, region, script } = new Intl.Locale(tag);
  // None of a tag such as `und-DE`, which no browser sends.
  const isLanguage =
    language !== undefined && (language.length === 3 || languages.of(language) !== undefined);
  const isRegion = region === undefined || regions.of(region) !== undefined;
  return isLanguage && isRegion && (script === undefined || scripts.of(script) !== undefined);
}
