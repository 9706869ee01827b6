// Whether a SQLite file holds what this program makes: a trigger, a view or another column changes what is written or read.
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Refused } from "../../runtime/refused.ts";
import { openReadOnly } from "./sqlite.ts";

type SchemaObject = { type: string; name: string; tbl_name: string; sql: string | null };

/** Statistics that `ANALYZE` keeps change no result. */
const OBJECTS =
  "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_stat[0-9]' ORDER BY type, name";

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
  if (difference) throw new Refused("file_altered", difference);
}

function objectsOf(db: DatabaseSync): SchemaObject[] {
  const objects = db.prepare(OBJECTS).all() as SchemaObject[];
  // As it was typed, spaces and line breaks included, which say nothing.
  return objects.map((object) => ({ ...object, sql: object.sql?.replace(/\s+/g, "") ?? null }));
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
