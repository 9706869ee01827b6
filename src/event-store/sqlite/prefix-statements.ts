// The statements that read a table by stream prefixes, each prepared once.
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type PrefixSource, prefixQuery } from "./prefixes.ts";

export type PrefixStatement = { statement: StatementSync; bounds: Record<string, string> };

/** Given the prefixes, at least one: the statement, which wants `bounds`, `after` and `limit`. */
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
