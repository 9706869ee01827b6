// The SQL that answers "the next events of all streams with one of these prefixes" without sorting a backlog.

export type PrefixQuery = { sql: string; bounds: readonly string[] };
/** `position`: the column that the answer is ordered by, and that must be behind `$after`. */
export type PrefixSource = { table: string; columns: string; position: string };

/** After every string that starts with the prefix: stream names don't reach the last code point. */
const END = "\u{10FFFF}";

/**
 * One ordered branch a prefix; SQLite merges the branches as they are read, so a limit stops it early.
 * Parameters by name: `$after`, `$limit`, and `$p0`, `$p1`... for `bounds`.
 */
export function prefixQuery(
  { table, columns, position }: PrefixSource,
  prefixes: readonly string[],
): PrefixQuery {
  const bounds: string[] = [];
  const bind = (value: string) => `$p${bounds.push(value) - 1}`;
  const branches = withoutOverlap(prefixes).map(
    (prefix) => `SELECT ${columns} FROM ${table} WHERE ${condition(prefix, bind)} AND ${position} > $after`,
  );
  return { sql: `${branches.join(" UNION ALL ")} ORDER BY ${position} LIMIT $limit`, bounds };
}

/** `+stream` keeps the planner off the stream index, whose order would have to be sorted by position. */
function condition(prefix: string, bind: (value: string) => string): string {
  const dash = prefix.indexOf("-");
  const range = () => `+stream >= ${bind(prefix)} AND +stream < ${bind(prefix + END)}`;
  if (dash < 0) return prefix === "" ? "TRUE" : range();
  const ofCategory = `category = ${bind(prefix.slice(0, dash))}`;
  return dash === prefix.length - 1 ? ofCategory : `${ofCategory} AND ${range()}`;
}

/** An event must come once even when two prefixes name its stream. */
function withoutOverlap(prefixes: readonly string[]): string[] {
  const kept: string[] = [];
  for (const prefix of [...new Set(prefixes)].sort())
    if (!kept.some((shorter) => prefix.startsWith(shorter))) kept.push(prefix);
  return kept;
}

/** The part of a stream's name before its first `-`; the whole name when there is none. */
export function categoryOf(stream: string): string {
  const dash = stream.indexOf("-");
  return dash < 0 ? stream : stream.slice(0, dash);
}
