// Canonical JSON (RFC 8785): equal values have equal text, whatever the order in which a store gives members back.
/** Of a plain JSON value; members that are undefined are left out. Each event is hashed by it, so it allocates little. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  let text = "";
  if (Array.isArray(value)) {
    for (const item of value) text += text === "" ? canonicalJson(item) : `,${canonicalJson(item)}`;
    return `[${text}]`;
  }
  const members = value as Readonly<Record<string, unknown>>;
  // Without a comparator: by UTF-16 code units, as RFC 8785 wants it.
  for (const name of Object.keys(members).sort()) {
    const member = members[name];
    if (member === undefined) continue;
    if (text !== "") text += ",";
    text += `${JSON.stringify(name)}:${canonicalJson(member)}`;
  }
  return `{${text}}`;
}
