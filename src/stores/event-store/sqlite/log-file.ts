// The file of the SQLite log: its one table of appends, and the dictionaries that clicks are compressed with.

import { readFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { Failure } from "../../../runtime/errors.ts";
import { makeFolder } from "../../../runtime/private-folder.ts";
import { inTransaction, openReadOnly } from "../../connections/sqlite.ts";
import { alterations, refuseAltered } from "../../connections/structure.sqlite.ts";
import type { StructureProblem } from "../port.ts";
import type { Dictionaries } from "./bodies.ts";

/**
 * One row an append, written once. `position` and `revision`: of its last event, so that of `count` events the first has
 * `position - count + 1`. `body`: the JSON array of its events, as text, or compressed by zstd with the dictionary of the
 * number. The category is computed from the stream, so that no row can be found under another.
 */
const SCHEMA = `
  CREATE TABLE appends (
    position INTEGER PRIMARY KEY,
    category TEXT NOT NULL AS (substr(stream, 1, instr(stream || '-', '-') - 1)),
    stream TEXT NOT NULL,
    revision INTEGER NOT NULL,
    count INTEGER NOT NULL CHECK (count BETWEEN 1 AND min(revision + 1, position)),
    recorded_at TEXT NOT NULL,
    dictionary INTEGER REFERENCES dictionaries (number),
    body ANY NOT NULL CHECK (typeof(body) = iif(dictionary IS NULL, 'text', 'blob'))
  ) STRICT;
  CREATE UNIQUE INDEX appends_by_stream ON appends (stream, revision);
  CREATE INDEX appends_by_category ON appends (category, position);
  CREATE TABLE dictionaries (number INTEGER PRIMARY KEY, bytes BLOB NOT NULL) STRICT;
  PRAGMA user_version = 1;
`;
const VERSION = 1;

/** The dictionary of new clicks; a better one gets the next number, and older rows keep theirs. */
export const DICTIONARY = 1;
const DICTIONARY_FILE = new URL(`./clicks-${DICTIONARY}.zstd-dictionary`, import.meta.url);

/**
 * Created when missing, unless it is opened to read only. `synchronous = FULL`: a commit is fsynced before it returns, so
 * an acknowledged event survives a power failure.
 * @throws file_altered for a file of another form, and for one that is to be written and is not as our program
 * makes it
 */
export function openLogFile(file: string, readOnly = false): DatabaseSync {
  if (!readOnly) makeFolder(dirname(file));
  const db = readOnly ? openReadOnly(file) : new DatabaseSync(file, { timeout: 5_000 });
  try {
    db.exec("PRAGMA cache_size = -4096");
    if (readOnly || !isEmpty(db)) refuseOtherForm(db, file);
    if (readOnly) return db;
    db.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL");
    inTransaction(db, () => createSchema(db));
    refuseAltered(db, SCHEMA);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function createSchema(db: DatabaseSync): void {
  if (!isEmpty(db)) return;
  db.exec(SCHEMA);
  db.prepare("INSERT INTO dictionaries VALUES (?, ?)").run(DICTIONARY, readFileSync(DICTIONARY_FILE));
}

function isEmpty(db: DatabaseSync): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema").get() === undefined;
}

function refuseOtherForm(db: DatabaseSync, file: string): void {
  const { user_version: version } = db.prepare("PRAGMA user_version").get() as { user_version: number };
  if (version === VERSION) return;
  throw new Failure(
    `${file} is no event log of this version: give a DATA_DIR of its own, or start the version that wrote it`,
    { code: "file_altered" },
  );
}

export function dictionariesOf(db: DatabaseSync): Dictionaries {
  const rows = db.prepare("SELECT number, bytes FROM dictionaries").all();
  return new Map(rows.map(({ number, bytes }) => [number as number, bytes as Uint8Array]));
}

/** What the schema and SQLite's own check say; which events are there twice, the order of what is read says. */
export function fileProblems(db: DatabaseSync): StructureProblem[] {
  const name = basename(db.location() ?? "the log");
  const checked = db.prepare("PRAGMA integrity_check(10)").all() as { integrity_check: string }[];
  const damage = checked.map(({ integrity_check: line }) => line).filter((line) => line !== "ok");
  return [
    ...alterations(db, SCHEMA).map((what) => ({ what })),
    ...damage.map((what) => ({ what: `${name} is damaged: ${what}` })),
  ];
}
