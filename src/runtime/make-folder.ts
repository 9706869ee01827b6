// Makes a folder and those above it, and ends with an error where that can't be.
import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/**
 * As `mkdir -p`. Node's own `recursive` never returns where the system refuses a name that it doesn't know, as in /proc.
 * @throws what the file system says
 */
export function makeFolder(folder: string, mode = 0o777): void {
  if (isFolder(folder)) return;
  const parent = dirname(folder);
  if (parent !== folder && statSync(parent, { throwIfNoEntry: false }) === undefined)
    makeFolder(parent, mode);
  try {
    mkdirSync(folder, { mode });
  } catch (error) {
    // Another process may have made it meanwhile.
    if (!isFolder(folder)) throw error;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}
