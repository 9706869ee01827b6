// Canonical JSON (RFC 8785): equal values have equal text, whatever the order in which a store gives members back.

/** Of a plain JSON value; members that are undefined are left out. */
export function canonicalJson(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  const members = value as Readonly<Record<string, unknown>>;
  // Without a comparator: by UTF-16 code units, as RFC 8785 wants it.
  const names = Object.keys(members).sort();
  const texts = names.filter((name) => members[name] !== undefined);
  return `{${texts.map((name) => `${JSON.stringify(name)}:${canonicalJson(members[name])}`).join(",")}}`;
}
