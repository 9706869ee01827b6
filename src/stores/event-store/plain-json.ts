// The JSON text of what is appended, refused where it would not be read back as it was written.
/**
 * Names of members must need no escape in JSON: V8 13.6, of Node 24, reads such a name as another one that it has met in an
 * object alike (`JSON.parse('{"q":0,"\\\\":0}'); JSON.parse('{"q":0,"\\n":0}')` has a member `\`). Values may have any text.
 * @throws TypeError for such a name, and for what is no plain JSON
 */
export function plainJson(value: unknown): string {
  const text = JSON.stringify(value);
  if (text === undefined) throw new TypeError("An event's data must be plain JSON");
  const name = escapedName(text);
  if (name !== undefined) throw new TypeError(`A member's name must need no escape in JSON: "${name}"`);
  return text;
}

/** The first member's name with an escape, as it stands in the text. Only strings with a backslash are looked through. */
function escapedName(text: string): string | undefined {
  let at = text.indexOf("\\");
  while (at >= 0) {
    let end = at;
    while (text[end] !== '"') end += text[end] === "\\" ? 2 : 1;
    // What stands in front of its first backslash has no quote, as that would be escaped.
    if (text[end + 1] === ":") return text.slice(text.lastIndexOf('"', at) + 1, end);
    at = text.indexOf("\\", end);
  }
  return undefined;
}
