// Preloaded by a test into all threads: writes each SQL statement that is prepared to a file, with the name of its database.
import { appendFileSync } from "node:fs";
import { basename } from "node:path";
import { DatabaseSync } from "node:sqlite";

const file = process.env.RECORD_QUERIES_TO;
const seen = new Set<string>();
const { prepare } = DatabaseSync.prototype;

DatabaseSync.prototype.prepare = function (this: DatabaseSync, sql, ...more) {
  const line = JSON.stringify([basename(this.location() ?? ""), sql.replace(/\s+/g, " ").trim()]);
  if (file !== undefined && !seen.has(line)) appendFileSync(file, `${line}\n`);
  seen.add(line);
  return prepare.call(this, sql, ...more);
};
