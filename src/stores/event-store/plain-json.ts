// The JSON text of what is appended, refused where it would not be read back as it was written.
/** Each string, and the colon behind it where it is a member's name. */
const STRINGS = /"((?:[^"\\]|\\.)*)"(:?)/g;

/**
 * Names of members must need no escape in JSON: V8 13.6, of Node 24, reads such a name as another one that it has met in an
 * object alike (`JSON.parse('{"q":0,"\\\\":0}'); JSON.parse('{"q":0,"\\n":0}')` has a member `\`). Values may have any text.
 * @throws TypeError for such a name, and for what is no plain JSON
 */
export function plainJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError("An event's data must be plain JSON");
  if (text.includes("\\"))
    for (const [, name, colon] of text.matchAll(STRINGS))
      if (colon !== "" && name?.includes("\\"))
        throw new TypeError(`A member's name must need no escape in JSON: "${name}"`);
  return text;
}
