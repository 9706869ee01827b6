// Tables with columns for some fields (CollectionSpec.columns): which a table has, and the statements that write them.
import type { DatabaseSync } from "node:sqlite";
import { fieldName } from "../names.ts";
import type { CollectionSpec, Document, Scalar } from "../port.ts";

/** `indexed`: those that are part of an index. */
export type Columns = { all: readonly string[]; indexed: readonly string[] };

const OWN = ["_id", "position", "doc"];

/** SQL that creates the table when it is missing; an existing table keeps the columns that it has. @throws BadName */
export function tableSql(table: string, { columns = [] }: Pick<CollectionSpec, "columns">): string {
  const own = columns.map((field) => `, "${fieldName(field)}"`).join("");
  return `CREATE TABLE IF NOT EXISTS ${table} (_id TEXT PRIMARY KEY, position TEXT NOT NULL, doc TEXT NOT NULL${own})`;
}

/** Of an existing table, whichever process created it. */
export function columnsOf(db: DatabaseSync, table: string): Columns {
  const name = table.slice(1, -1);
  const all = db.prepare("SELECT name FROM pragma_table_info(?)").all(name);
  const indexed = db
    .prepare(
      "SELECT DISTINCT c.name FROM pragma_index_list(?) AS i, pragma_index_info(i.name) AS c WHERE c.name IS NOT NULL",
    )
    .all(name);
  const names = (rows: typeof all) => rows.map((row) => String(row.name)).filter((one) => !OWN.includes(one));
  return { all: names(all), indexed: names(indexed) };
}

/** Writes the document unless the stored one is as new. Parameters: `_id`, `position`, `doc`, and the columns in order. */
export function upsertSql(table: string, { all }: Columns): string {
  const names = ["_id", "position", "doc", ...all.map((name) => `"${name}"`)];
  const changed = names.slice(1).map((name) => `${name} = excluded.${name}`);
  return `INSERT INTO ${table} AS stored (${names}) VALUES (${names.map((_, n) => `?${n + 1}`)})
    ON CONFLICT (_id) DO UPDATE SET ${changed} WHERE stored.position < excluded.position`;
}

/**
 * With the same parameters, writes a document that is stored with the same values of indexed columns. As it doesn't set
 * these, SQLite doesn't touch the index.
 */
export function updateSql(table: string, { all, indexed }: Columns): string {
  const set: string[] = [];
  const where: string[] = [];
  for (const [n, name] of all.entries())
    (indexed.includes(name) ? where : set).push(`"${name}" ${indexed.includes(name) ? "IS" : "="} ?${n + 4}`);
  return `UPDATE ${table} SET ${["position = ?2", "doc = ?3", ...set]}
    WHERE ${["_id = ?1", "position < ?2", ...where].join(" AND ")}`;
}

export function columnValues(document: Document, { all }: Columns): (string | number | null)[] {
  return all.map((name) => {
    const value = (document as Record<string, unknown>)[name] as Scalar | undefined;
    return typeof value === "boolean" ? Number(value) : (value ?? null);
  });
}
