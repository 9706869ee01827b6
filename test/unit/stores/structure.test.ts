// A SQLite file is this program's by what its tables and indexes do, however they were spelled.
import { DatabaseSync } from "node:sqlite";
import fc from "fast-check";
import { expect, it } from "vitest";
import { alterations } from "../../../src/stores/connections/structure.sqlite.ts";

const SCHEMA = `
  CREATE TABLE things (id TEXT PRIMARY KEY, kind TEXT NOT NULL AS (substr(id, 1, 1)), size INTEGER NOT NULL CHECK (size >= 0),
    note TEXT DEFAULT 'A--b "C"') STRICT, WITHOUT ROWID;
  CREATE TABLE plain (name TEXT PRIMARY KEY, used INTEGER NOT NULL) STRICT;
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

const style = fc.record({
  isLower: fc.boolean(),
  quotes: fc.constantFrom(["", ""], ['"', '"'], ["[", "]"], ["`", "`"]),
  space: fc.constantFrom(" ", "\n\t", " /* a comment */ ", " -- another\n"),
});

it("is the same in any case, with other quotes, spaces and comments", () => {
  fc.assert(
    fc.property(style, ({ isLower, quotes: [open, close], space }) => {
      const styled = SCHEMA.split(/('.*?')/).map((part, n) => {
        if (n % 2 === 1) return part;
        const cased = isLower ? part.toLowerCase() : part;
        return cased
          .replace(/\b(things|plain|id|size|name|by_size)\b/g, `${open}$1${close}`)
          .replaceAll(" ", space);
      });
      expect(alterationsOf(styled.join(""))).toEqual([]);
    }),
  );
});

it("is the same where a column was added as the last one", () => {
  const older = SCHEMA.replace(", used INTEGER NOT NULL)", ")");
  expect(alterationsOf(`${older}; ALTER TABLE plain ADD COLUMN used INTEGER NOT NULL`)).toEqual([]);
});

it.each([
  ["size >= 0", "size >= 1", "the table things is another one"],
  ["substr(id, 1, 1)", "substr(id, 1, 2)", "the table things is another one"],
  ["'A--b \"C\"'", "'a--b \"C\"'", "the table things is another one"],
  ["used INTEGER NOT NULL", "used INTEGER", "the table plain is another one"],
  ["used INTEGER NOT NULL", "used INTEGER NOT NULL CHECK (used > 0)", "the table plain is another one"],
  ["used INTEGER NOT NULL", "used INTEGER NOT NULL UNIQUE", "the table plain is another one"],
  ["used INTEGER NOT NULL) STRICT", "used INTEGER NOT NULL)", "the table plain is another one"],
  ["(size, id)", "(size DESC, id)", "the index by_size is another one"],
  ["CREATE INDEX by_size", "CREATE UNIQUE INDEX by_size", "the index by_size is another one"],
  ["lower(note)", "upper(note)", "the index noted is another one"],
  ["note IS NOT NULL", "note IS NULL", "the index noted is another one"],
])("with %s as %s is another one", (before, after, what) => {
  expect(alterationsOf(SCHEMA.replace(before, after))).toContain(what);
});
