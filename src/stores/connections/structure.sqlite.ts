// Whether a SQLite file holds what our program makes: a trigger, a view or another column changes what is written or read.
import { DatabaseSync } from "node:sqlite";

type SchemaObject = { type: string; name: string; tbl_name: string; sql: string | null };

/** Statistics that `ANALYZE` keeps change no result. */
const OBJECTS =
  "SELECT type, name, tbl_name, sql FROM sqlite_schema WHERE name NOT GLOB 'sqlite_stat[0-9]' ORDER BY type, name";

/** What is there otherwise than `schema` makes it, a line each; `schema` makes a database from nothing. @throws SQLite's error */
export function structureProblems(db: DatabaseSync, schema: string): string[] {
  const made = new DatabaseSync(":memory:");
  try {
    made.exec(schema);
    return differences(objectsOf(db), objectsOf(made));
  } finally {
    made.close();
  }
}

function objectsOf(db: DatabaseSync): SchemaObject[] {
  return db.prepare(OBJECTS).all() as SchemaObject[];
}

function differences(there: readonly SchemaObject[], made: readonly SchemaObject[]): string[] {
  const textOf = (object: SchemaObject) => JSON.stringify(object);
  const known = new Set(made.map(textOf));
  const found = new Set(there.map(textOf));
  const isMade = ({ type, name }: SchemaObject) => made.some((own) => own.type === type && own.name === name);
  const odd = there.filter((object) => !known.has(textOf(object)));
  const names = new Set(odd.map(({ name }) => name));
  return [
    ...odd.map((object) =>
      isMade(object)
        ? `the ${object.type} ${object.name} is not as our program makes it`
        : `there is a ${object.type} ${object.name} that our program doesn't make`,
    ),
    ...made
      .filter((object) => !found.has(textOf(object)) && !names.has(object.name))
      .map(({ type, name }) => `the ${type} ${name} is missing`),
  ];
}
