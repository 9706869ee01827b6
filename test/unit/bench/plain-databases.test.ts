// The databases of the plain programs, beside which our own figures are judged.
import { join } from "node:path";
import type { DatabaseSync } from "node:sqlite";
import { describe, expect, it, onTestFinished } from "vitest";
import { openDocumentsDatabase, openLogDatabase } from "../../../bench/floor/databases.ts";
import { openLogFile } from "../../../src/event-store/sqlite/log.ts";
import { openDatabase } from "../../../src/read-store/sqlite/database.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";

const SETTINGS = ["journal_mode", "synchronous", "cache_size", "wal_autocheckpoint", "journal_size_limit"];

function settingsOf(db: DatabaseSync): unknown[] {
  try {
    return SETTINGS.map((name) => db.prepare(`PRAGMA ${name}`).get()?.[name]);
  } finally {
    db.close();
  }
}

describe("the databases of the plain programs", () => {
  it("have the settings of our own log and documents", async () => {
    const { path, remove } = await temporaryFolder();
    onTestFinished(remove);
    expect(settingsOf(openLogDatabase(path, "a.db"))).toEqual(settingsOf(openLogFile(join(path, "b.db"))));
    expect(settingsOf(openDocumentsDatabase(path, "c.db"))).toEqual(
      settingsOf(openDatabase(join(path, "d.db"))),
    );
  });
});
