// Finds what somebody likely meant by a name that is not known.
/** The name that is most alike; undefined where none is, with `most` characters of difference. */
export function closestName(
  typed: string,
  names: readonly string[],
  most = Math.max(2, Math.floor(typed.length / 3)),
): string | undefined {
  const alike = names.map((name) => ({ name, edits: editsBetween(typed, name) }));
  return alike.sort((a, b) => a.edits - b.edits).find(({ edits }) => edits <= most)?.name;
}

/** How many characters are to be inserted, deleted or replaced. */
function editsBetween(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, n) => n);
  for (const [n, char] of [...from].entries()) {
    const next = [n + 1];
    for (let m = 0; m < to.length; m++) {
      const replaced = (row[m] ?? 0) + (char === to[m] ? 0 : 1);
      next.push(Math.min(replaced, (row[m + 1] ?? 0) + 1, (next[m] ?? 0) + 1));
    }
    row = next;
  }
  return row[to.length] ?? 0;
}
