// SQL for "the next events of all streams with one of these prefixes", in position order without a sort.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { limitOf } from "../../connections/sqlite.ts";

export type PrefixQuery = { sql: string; bounds: readonly string[] };
/** `position`: the column that orders the result and must be greater than `$after`. `where`: a further condition, in SQL. */
export type PrefixSource = { table: string; columns: string; position: string; where?: string };

/** Appended to a prefix: sorts after every stream name with it, as names never contain the last code point. */
const END = "\u{10FFFF}";

/**
 * One ordered branch per prefix; SQLite merges the branches lazily, so that a limit ends the query early.
 * Named parameters: `$after`, `$limit`, and `$p0`, `$p1`... for `bounds`.
 */
function prefixQuery(
  { table, columns, position, where = "TRUE" }: PrefixSource,
  prefixes: readonly string[],
): PrefixQuery {
  const bounds: string[] = [];
  const bind = (value: string) => `$p${bounds.push(value) - 1}`;
  const branches = withoutOverlap(prefixes).map(
    (prefix) =>
      `SELECT ${columns} FROM ${table} WHERE ${condition(prefix, bind)} AND ${position} > $after AND ${where}`,
  );
  return { sql: `${branches.join(" UNION ALL ")} ORDER BY ${position} ${limitOf("$limit")}`, bounds };
}

/** `+stream` keeps the query planner from using the stream index, which would need a sort by position. */
function condition(prefix: string, bind: (value: string) => string): string {
  const dash = prefix.indexOf("-");
  const range = () => `+stream >= ${bind(prefix)} AND +stream < ${bind(prefix + END)}`;
  if (dash < 0) return prefix === "" ? "TRUE" : range();
  const ofCategory = `category = ${bind(prefix.slice(0, dash))}`;
  return dash === prefix.length - 1 ? ofCategory : `${ofCategory} AND ${range()}`;
}

/** Drops prefixes that another one covers, so that no event is returned twice. */
function withoutOverlap(prefixes: readonly string[]): string[] {
  const kept: string[] = [];
  for (const prefix of [...new Set(prefixes)].sort())
    if (!kept.some((shorter) => prefix.startsWith(shorter))) kept.push(prefix);
  return kept;
}

export type PrefixStatement = { statement: StatementSync; bounds: Record<string, string> };

/** Prepares and caches the statement of each set of prefixes (at least one); run it with `bounds`, `after`, `limit`. */
export function prefixStatements(
  db: DatabaseSync,
  source: PrefixSource,
): (prefixes: readonly string[]) => PrefixStatement {
  const prepared = new Map<string, PrefixStatement>();
  return (prefixes) => {
    const key = prefixes.join("\n");
    const known = prepared.get(key);
    if (known) return known;
    const { sql, bounds } = prefixQuery(source, prefixes);
    const named = Object.fromEntries(bounds.map((bound, index) => [`p${index}`, bound]));
    const query = { statement: db.prepare(sql), bounds: named };
    prepared.set(key, query);
    return query;
  };
}

/** The part of a stream's name before its first `-`; the whole name when there is none. */
export function categoryOf(stream: string): string {
  const dash = stream.indexOf("-");
  return dash < 0 ? stream : stream.slice(0, dash);
}
