// Whether a SQLite file holds what this program makes: a trigger, a view or another column changes what is written or read.
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Failure } from "../../runtime/errors.ts";
import { openReadOnly } from "./sqlite.ts";

/** `is`: what it does, however it was spelled. */
type SchemaObject = { type: string; name: string; table: string; is: string };

/** Statistics that `ANALYZE` keeps change no result. */
const OBJECTS =
  "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_stat[0-9]' ORDER BY type, name";
const COLUMNS = {
  table: `SELECT info.name, info.type, "notnull", dflt_value, pk, hidden, list.wr, list.strict
    FROM pragma_table_list(?) AS list, pragma_table_xinfo(list.name) AS info`,
  index: `SELECT info.seqno, info.name, info."desc", info.coll, list."unique", list.partial
    FROM sqlite_schema AS stored, pragma_index_list(stored.tbl_name) AS list, pragma_index_xinfo(stored.name) AS info
    WHERE stored.name = ? AND list.name = stored.name AND info.key`,
};
/** What the columns don't tell: conditions, references, and what is computed. */
const BEYOND_COLUMNS = /\b(?:check|as|references|collate|where|unique)\b|\(.*\(/is;
/** Comments and white space, texts, quoted names. */
const TOKENS = /--[^\n]*|\/\*.*?\*\/|\s+|'(?:[^']|'')*'|["`[](\w+)["`\]]|[^\s'"`[/-]+|./gs;

/**
 * What is in a file otherwise than `schema` makes it from nothing, a line each; where tables come and go, and there is no
 * schema, triggers and views. @throws SQLite's error
 */
export function alterations(db: DatabaseSync, schema?: string): string[] {
  const there = objectsOf(db);
  const altered =
    schema === undefined ? there.filter(isOdd).map(foreign) : differences(there, objectsMadeBy(schema));
  const name = basename(db.location() ?? "the file");
  return altered.map((what) => `${name} is not as this program makes it: ${what}`);
}

/** Of a file that may be missing. @throws SQLite's error */
export function alterationsOf(file: string, schema?: string): string[] {
  if (!existsSync(file)) return [];
  const db = openReadOnly(file);
  try {
    return alterations(db, schema);
  } finally {
    db.close();
  }
}

/** To be called before anything is written to a file. @throws file_altered */
export function refuseAltered(db: DatabaseSync, schema?: string): void {
  const [difference] = alterations(db, schema);
  if (difference) throw new Failure(difference, { code: "file_altered" });
}

function objectsOf(db: DatabaseSync): SchemaObject[] {
  return db
    .prepare(OBJECTS)
    .all()
    .map(({ type, name, tbl_name, sql }) => {
      const text = String(sql ?? "");
      const listing = COLUMNS[type as keyof typeof COLUMNS];
      const columns = listing ? db.prepare(listing).all(name as string) : [];
      const others = !listing || BEYOND_COLUMNS.test(text) ? withoutStyle(text) : "";
      return {
        type: String(type),
        name: String(name),
        table: String(tbl_name),
        is: JSON.stringify([columns, others]),
      };
    });
}

/** SQL without comments, white space, quotes of names and case, which say nothing. */
function withoutStyle(sql: string): string {
  return sql.replace(TOKENS, (token, quoted?: string) => {
    if (token.startsWith("'")) return token;
    return /^(?:\s|--|\/\*)/.test(token) ? "" : (quoted ?? token).toLowerCase();
  });
}

function objectsMadeBy(schema: string): SchemaObject[] {
  const made = new DatabaseSync(":memory:");
  try {
    made.exec(schema);
    return objectsOf(made);
  } finally {
    made.close();
  }
}

function isOdd({ type }: SchemaObject): boolean {
  return type === "trigger" || type === "view";
}

function foreign({ type, name }: SchemaObject): string {
  return `the ${type} ${name} doesn't belong there`;
}

function differences(there: readonly SchemaObject[], made: readonly SchemaObject[]): string[] {
  const isSame = (object: SchemaObject) => (other: SchemaObject) =>
    JSON.stringify(object) === JSON.stringify(other);
  const isNamed = (object: SchemaObject) => (other: SchemaObject) =>
    object.type === other.type && object.name === other.name;
  return [
    ...there
      .filter((object) => !made.some(isSame(object)))
      .map((object) =>
        made.some(isNamed(object)) ? `the ${object.type} ${object.name} is another one` : foreign(object),
      ),
    ...made
      .filter((object) => !there.some(isNamed(object)))
      .map(({ type, name }) => `the ${type} ${name} is missing`),
  ];
}
