// A SQLite file is this program's by the text of its tables and indexes, and holds nothing besides.
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { alterations } from "../../../src/stores/connections/structure.sqlite.ts";

const SCHEMA = `
  CREATE TABLE things (id TEXT PRIMARY KEY, kind TEXT NOT NULL AS (substr(id, 1, 1)), size INTEGER NOT NULL CHECK (size >= 0),
    note TEXT DEFAULT 'A--b "C"') STRICT, WITHOUT ROWID;
  CREATE TABLE IF NOT EXISTS plain (name TEXT PRIMARY KEY, used INTEGER NOT NULL) STRICT;
  CREATE INDEX by_size ON things (size, id);
  CREATE INDEX noted ON things (lower(note)) WHERE note IS NOT NULL;
`;

function alterationsOf(sql: string): string[] {
  const db = new DatabaseSync(":memory:");
  try {
    db.exec(sql);
    return alterations(db, SCHEMA).map((line) => line.replace(/^.*makes it: /, ""));
  } finally {
    db.close();
  }
}

it.each(["", "VACUUM", "INSERT INTO plain VALUES ('a', 1); ANALYZE"])("is the same after %j", (sql) => {
  expect(alterationsOf(`${SCHEMA}; ${sql}`)).toEqual([]);
});

it.each([
  ["size >= 0", "size >= 1", "the table things is another one"],
  ["substr(id, 1, 1)", "substr(id, 1, 2)", "the table things is another one"],
  ["'A--b \"C\"'", "'a--b \"C\"'", "the table things is another one"],
  ["used INTEGER NOT NULL) STRICT", "used INTEGER NOT NULL)", "the table plain is another one"],
  ["(size, id)", "(size DESC, id)", "the index by_size is another one"],
  ["note IS NOT NULL", "note IS NULL", "the index noted is another one"],
  ["CREATE INDEX by_size ON things (size, id);", "", "the index by_size is missing"],
  [
    "CREATE INDEX by_size",
    "CREATE VIEW seen AS SELECT 1; CREATE INDEX by_size",
    "the view seen doesn't belong",
  ],
])("with %s as %s is another one", (before, after, what) => {
  expect(alterationsOf(SCHEMA.replace(before, after)).join("\n")).toContain(what);
});
