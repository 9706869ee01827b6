// Language tags as browsers send them now: what visits are read by, and the tags of rules are compared with.

/** BCP 47's present form in lower case, such as `he` for `iw`; unchanged where it is no well-formed tag. */
export function canonicalLanguage(tag: string): string {
  return (presentTag(tag) ?? tag).toLowerCase();
}

/** BCP 47's present form, such as `en-GB`; undefined where it is no well-formed tag. */
export function presentTag(tag: string): string | undefined {
  try {
    return Intl.getCanonicalLocales(tag)[0];
  } catch {
    return undefined;
  }
}
