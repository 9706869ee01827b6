// Whether a SQLite file holds what this program makes: a trigger, a view or another column changes what is written or read.
import { existsSync } from "node:fs";
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Failure } from "../../runtime/errors.ts";
import { openReadOnly } from "./sqlite.ts";

/** `sql`: as it was created; null for an index that belongs to a table's constraint. */
type SchemaObject = { type: string; name: string; sql: string | null };

/** Statistics that `ANALYZE` keeps change no result. */
const OBJECTS =
  "SELECT type, name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_stat[0-9]' ORDER BY type, name";

/**
 * What is in a file otherwise than `schema` makes it from nothing, a line each; where tables come and go, and there is no
 * schema, triggers and views. @throws SQLite's error
 */
export function alterations(db: DatabaseSync, schema?: string): string[] {
  const present = objectsOf(db);
  const isOdd = ({ type }: SchemaObject) => type === "trigger" || type === "view";
  const altered =
    schema === undefined ? present.filter(isOdd).map(foreign) : differences(present, objectsMadeBy(schema));
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
  return db.prepare(OBJECTS).all() as SchemaObject[];
}

function objectsMadeBy(schema: string): SchemaObject[] {
  const pristine = new DatabaseSync(":memory:");
  try {
    pristine.exec(schema);
    return objectsOf(pristine);
  } finally {
    pristine.close();
  }
}

function foreign({ type, name }: SchemaObject): string {
  return `the ${type} ${name} doesn't belong there`;
}

/** By their text, which SQLite keeps as it was written, also in copies and dumps. */
function differences(present: readonly SchemaObject[], expected: readonly SchemaObject[]): string[] {
  const keyOf = ({ type, name }: SchemaObject) => `${type} ${name}`;
  const texts = new Map(expected.map((object) => [keyOf(object), object.sql]));
  const presentKeys = new Set(present.map(keyOf));
  const missing = expected.filter((object) => !presentKeys.has(keyOf(object)));
  return [
    ...present.flatMap((object) => {
      const text = texts.get(keyOf(object));
      if (text === undefined) return [foreign(object)];
      return text === object.sql ? [] : [`the ${keyOf(object)} is another one`];
    }),
    ...missing.map((object) => `the ${keyOf(object)} is missing`),
  ];
}
