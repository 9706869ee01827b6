// Translates a FindQuery to SQL: names are validated before they become part of the text, values are bound parameters.
import type { SQLInputValue } from "node:sqlite";
import { collectionName, fieldName } from "../names.ts";
import type { FindQuery, Scalar } from "../port.ts";

/** @throws bad_name */
export function tableName(collection: string): string {
  return `"docs_${collectionName(collection)}"`;
}

/** The SQL expression of a top-level field. `columns`: fields with a column of their own. @throws bad_name */
export function column(field: string, columns: readonly string[]): string {
  if (field === "_id") return "_id";
  if (field === "_position") return "position";
  return columns.includes(field) ? `"${field}"` : `json_extract(doc, '$.${fieldName(field)}')`;
}

/** ORDER BY: the field, then `_id`, both in the same direction. */
export function order(sort: FindQuery["sort"], columns: readonly string[]): string {
  const direction = sort?.direction === "desc" ? "DESC" : "ASC";
  return sort && sort.field !== "_id"
    ? `${column(sort.field, columns)} ${direction}, _id ${direction}`
    : `_id ${direction}`;
}

/** The WHERE clause and its values; empty when all documents match. */
export function conditions(
  query: Omit<FindQuery, "limit">,
  columns: readonly string[],
): { sql: string; values: SQLInputValue[] } {
  const parts: string[] = [];
  const values: SQLInputValue[] = [];
  const add = (part: string, ...bound: SQLInputValue[]) => {
    parts.push(part);
    values.push(...bound);
  };
  for (const [field, value] of Object.entries(query.where ?? {})) {
    // IS, so that null matches null and missing fields; else =, as a partial index is of no use to IS.
    add(`${column(field, columns)} ${value === null ? "IS" : "="} ?`, scalar(value));
  }
  const { range, contains, has, after, sort } = query;
  if (range?.from !== undefined) add(`${column(range.field, columns)} >= ?`, range.from);
  if (range?.to !== undefined) add(`${column(range.field, columns)} < ?`, range.to);
  if (contains) {
    const pattern = `%${contains.text.replace(/[\\%_]/g, "\\$&")}%`;
    const any = contains.fields.map((field) => `${column(field, columns)} LIKE ? ESCAPE '\\'`);
    add(`(${any.join(" OR ") || "0"})`, ...contains.fields.map(() => pattern));
    // SQLite ends a pattern at NUL, so that the rest of the text would not count.
    if (contains.text.includes("\0")) add("0");
  }
  if (has) {
    const list = column(has.field, columns);
    // The first two need no document where an index has the list; a text of the list may look like what is between
    // two.
    add(`${list} IS NOT NULL`);
    add(`instr(${list}, ?) > 0`, JSON.stringify(has.element));
    add(`EXISTS (SELECT 1 FROM json_each(doc, '$.${fieldName(has.field)}') WHERE value = ?)`, has.element);
  }
  if (after) {
    const beyond = sort?.direction === "desc" ? "<" : ">";
    if (!sort || sort.field === "_id") add(`_id ${beyond} ?`, after.id);
    else {
      const field = column(sort.field, columns);
      // The first condition is one that the index can seek to; the second one excludes the last document itself.
      add(
        `${field} ${beyond}= ? AND (${field} ${beyond} ? OR _id ${beyond} ?)`,
        after.value,
        after.value,
        after.id,
      );
    }
  }
  return { sql: parts.length > 0 ? ` WHERE ${parts.join(" AND ")}` : "", values };
}

/** json_extract returns booleans as 0 and 1. Values of other types are compared as JSON text. */
function scalar(value: Scalar): SQLInputValue {
  if (typeof value === "boolean") return value ? 1 : 0;
  return value !== null && typeof value === "object" ? JSON.stringify(value) : value;
}

/** JSON of a few fields, which SQLite cuts out in a part of the time that parsing the rest would take. @throws bad_name */
export function partOf(fields: readonly string[]): string {
  const members = fields.map((field) => `'${fieldName(field)}', doc -> '$.${fieldName(field)}'`);
  return `json_object('_id', _id, '_position', position, ${members.join(", ")}) AS doc`;
}
