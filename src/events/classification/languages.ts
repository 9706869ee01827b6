// Language tags as browsers send them now, and whether a tag is one: what visits are read by, and what rules may name.

/** BCP 47's present form in lower case, such as `he` for `iw`; unchanged where it is no well-formed tag. */
export function canonicalLanguage(tag: string): string {
  return (canonical(tag) ?? tag).toLowerCase();
}

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
  const written = tag.length > MOST_CHARACTERS ? undefined : canonical(tag);
  if (written === undefined) return "is no language tag";
  if (written.toLowerCase() !== tag.toLowerCase()) return `is written ${written}`;
  if (isKnown(tag)) return undefined;
  const meant = TAGS_BY_NAME.get(tag.toLowerCase());
  return `is no language tag${meant === undefined ? "" : `, but ${meant} is`}`;
}

function canonical(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}

/** All codes of three letters are taken, as nobody names all of them. */
function isKnown(tag: string): boolean {
  const { language, region, script } = new Intl.Locale(tag);
  const isLanguage = language.length === 3 || languages.of(language) !== undefined;
  const isRegion = region === undefined || regions.of(region) !== undefined;
  return isLanguage && isRegion && (script === undefined || scripts.of(script) !== undefined);
}
