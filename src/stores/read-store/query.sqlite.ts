// Translates a FindQuery to SQL: names are validated before they become part of the text, values are bound parameters.
import type { SQLInputValue } from "node:sqlite";
import { limitOf } from "../connections/sqlite.ts";
import { collectionName, fieldName } from "./names.ts";
import type { FindQuery, Scalar } from "./port.ts";

type Sql = { sql: string; values: SQLInputValue[] };

/** @throws Failure */
export function tableName(collection: string): string {
  return `"docs_${collectionName(collection)}"`;
}

/** The SQL expression of a top-level field, the same in indexes and queries. @throws Failure */
export function column(field: string): string {
  if (field === "_id") return "_id";
  return field === "_position" ? "position" : `json_extract(fields, '$.${fieldName(field)}')`;
}

/** What follows `SELECT ...`. @throws Failure */
export function searchSql(collection: string, query: FindQuery): Sql {
  const { sql, values } = matchSql(collection, query);
  const direction = query.sort?.direction === "desc" ? "DESC" : "ASC";
  const order = [...new Set([query.sort?.field ?? "_id", "_id"])]
    .map((field) => `${column(field)} ${direction}`)
    .join(", ");
  return {
    sql: `${sql} ORDER BY ${order} ${limitOf("?")}`,
    values: [...values, query.limit],
  };
}

/** The same without order and limit. @throws Failure */
export function matchSql(collection: string, query: Omit<FindQuery, "limit">): Sql {
  const parts: string[] = [];
  const values: SQLInputValue[] = [];
  const add = (part: string, ...bound: SQLInputValue[]) => {
    parts.push(part);
    values.push(...bound);
  };
  const { where = {}, range, in: among = {}, notIn = {}, contains, has, after, sort } = query;
  // IS, so that null matches null and missing fields. `+`: documents that are named, in the order of their names, are found by
  // these; by another index SQLite would look through all others, too.
  const unindexed = among._id && !sort ? "+" : "";
  for (const [field, value] of Object.entries(where)) add(`${unindexed}${column(field)} IS ?`, scalar(value));
  if (range?.from !== undefined) add(`${unindexed}${column(range.field)} >= ?`, range.from);
  if (range?.to !== undefined) add(`${unindexed}${column(range.field)} < ?`, range.to);
  // One parameter each, as SQLite binds a limited number of them.
  const listed = "(SELECT value FROM json_each(?))";
  for (const [field, texts] of Object.entries(among))
    add(`${column(field)} IN ${listed}`, JSON.stringify(texts));
  for (const [field, texts] of Object.entries(notIn))
    add(`(${column(field)} IS NULL OR ${column(field)} NOT IN ${listed})`, JSON.stringify(texts));
  if (contains) for (const text of contains.texts) add(`instr(${column(contains.field)}, ?) > 0`, text);
  if (has) {
    const list = column(has.field);
    // Alone it would do for most texts, and it needs no document where an index has the list.
    add(`instr(${list}, ?) > 0`, JSON.stringify(has.element));
    add(`EXISTS (SELECT 1 FROM json_each(${list}) WHERE value = ?)`, has.element);
  }
  if (after) {
    const beyond = sort?.direction === "desc" ? "<" : ">";
    if (!sort || sort.field === "_id") add(`_id ${beyond} ?`, after.id);
    else {
      const field = column(sort.field);
      const { value, id } = after;
      // The index can seek to the first condition; the second one excludes the last document itself.
      add(`${field} ${beyond}= ? AND (${field} ${beyond} ? OR _id ${beyond} ?)`, value, value, id);
    }
  }
  const condition = parts.length > 0 ? ` WHERE ${parts.join(" AND ")}` : "";
  return { sql: `FROM ${tableName(collection)}${condition}`, values };
}

/** json_extract returns booleans as 0 and 1. Values of other types are compared as JSON text. */
function scalar(value: Scalar): SQLInputValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  return value !== null && typeof value === "object" ? JSON.stringify(value) : value;
}
