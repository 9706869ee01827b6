// Copies the archive files that a copied SQLite log reads from, and checks that they are what was archived.
import { closeSync, copyFileSync, fsyncSync, mkdirSync, openSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { ArchiveUnreadable } from "../../log-archive.ts";
import { archiveFolder, digestOf } from "./archive-folder.ts";

/** `copy`: of the file `log`. @throws ArchiveUnreadable when a file is missing or was changed */
export function copyArchives(log: string, copy: string): { file: string; bytes: number }[] {
  const files = archivesOf(copy);
  const [from, to] = [archiveFolder(log), archiveFolder(copy)];
  if (files.length > 0) mkdirSync(to, { recursive: true, mode: 0o700 });
  return files.map(({ file, bytes, sha256 }) => {
    const [original, copied] = [join(from, file), join(to, file)];
    if (digestOf(original) !== sha256)
      throw new ArchiveUnreadable(
        `archive/${file} is missing or is not what was archived: see \`audit verify\``,
      );
    copyFileSync(original, copied);
    if (digestOf(copied) !== sha256) throw new Error(`The copy of archive/${file} is not sound`);
    const handle = openSync(copied, "r+");
    fsyncSync(handle);
    closeSync(handle);
    return { file, bytes };
  });
}

/** Read only, as the copy of a log is not to be changed. */
function archivesOf(log: string): { file: string; bytes: number; sha256: string }[] {
  const db = new DatabaseSync(log, { readOnly: true });
  try {
    const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'archives'").get();
    const rows = isThere ? db.prepare("SELECT file, bytes, sha256 FROM archives ORDER BY file").all() : [];
    return rows as { file: string; bytes: number; sha256: string }[];
  } finally {
    db.close();
  }
}
