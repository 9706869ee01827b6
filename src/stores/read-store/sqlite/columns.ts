// Tables with columns for some fields (CollectionSpec.columns): which a table has, and the statements that write them.
import type { DatabaseSync } from "node:sqlite";
import { fieldName } from "../names.ts";
import type { CollectionSpec, Document, Scalar } from "../port.ts";

/** `indexed`: those that are part of an index. */
export type Columns = { all: readonly string[]; indexed: readonly string[] };

/** `table`: its name in SQL. */
export type Table = { table: string; columns: Columns };

/**
 * The statements that write a document. `keepsIndex`: writes a row whose indexed columns stay as they are, as SQLite
 * rewrites the index entries of every column that a statement sets, also where its value is the same.
 */
export type Upsert = { upsert: string; keepsIndex?: string };

const OWN = ["_id", "position", "doc"];

/** SQL that creates the table when it is missing; an existing table keeps the columns that it has. @throws bad_name */
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

export function upsertOf(table: string, columns: Columns): Upsert {
  return {
    upsert: upsertSql(table, columns),
    ...(columns.indexed.length > 0 && { keepsIndex: upsertSql(table, columns, columns.indexed) }),
  };
}

/**
 * Writes the document unless the stored one is as new. Parameters: `_id`, `position`, the columns in order, and `doc`.
 * `unchanged`: columns that are not written; a stored document with other values of them stays as it is.
 */
function upsertSql(table: string, { all }: Columns, unchanged: readonly string[] = []): string {
  const names = ["_id", "position", ...all.map((name) => `"${name}"`), "doc"];
  const values = [...names.slice(1).map(() => "?"), "CAST(? AS TEXT)"];
  const written = [...OWN.slice(1), ...all.filter((name) => !unchanged.includes(name))];
  const conditions = ["stored.position < excluded.position"];
  for (const name of unchanged) conditions.push(`stored."${name}" IS excluded."${name}"`);
  return `INSERT INTO ${table} AS stored (${names}) VALUES (${values})
    ON CONFLICT (_id) DO UPDATE SET ${written.map((name) => `"${name}" = excluded."${name}"`)}
    WHERE ${conditions.join(" AND ")}`;
}

export function columnValues(document: Document, { all }: Columns): (string | number | null)[] {
  return all.map((name) => {
    const value = (document as Record<string, unknown>)[name] as Scalar | undefined;
    return typeof value === "boolean" ? Number(value) : (value ?? null);
  });
}
