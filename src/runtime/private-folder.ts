// Makes the service's files unreadable for other users of the machine: by the umask, and by chmod for existing files.

import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";

const OTHERS = 0o077;
const STICKY = 0o1000;

/** New files and folders of this process get no rights for group and others. Node allows `umask` in the main thread only. */
export function makeFilesPrivate(): void {
  process.umask(OTHERS);
}

/**
 * Creates the folder with mode 0700, or removes the rights of group and others from an existing one, and recursively from
 * those entries whose name `isOwn` accepts; other programs' files in it are not changed, nor is the mode of a folder with
 * the sticky bit, such as /tmp, which is shared on purpose.
 * @returns the paths whose rights were removed, and those that belong to another user, so that they can't be changed
 */
export function openPrivateFolder(
  folder: string,
  isOwn: (name: string) => boolean,
): { tightened: string[]; refused: string[] } {
  makeFolder(folder, 0o700);
  const paths = { tightened: [] as string[], refused: [] as string[] };
  if (!(statSync(folder).mode & STICKY)) tighten(folder, paths);
  for (const name of readdirSync(folder).filter(isOwn)) tightenAll(join(folder, name), paths);
  return paths;
}

type Found = ReturnType<typeof openPrivateFolder>;

function tightenAll(path: string, paths: Found): void {
  if (!tighten(path, paths)) return;
  for (const name of readdirSync(path)) tightenAll(join(path, name), paths);
}

/** Returns whether the path is a folder. */
function tighten(path: string, { tightened, refused }: Found): boolean {
  const entry = statSync(path, { throwIfNoEntry: false });
  // Another process may have removed the file meanwhile, as SQLite does with its write-ahead logs.
  if (!entry) return false;
  if (entry.mode & OTHERS) {
    try {
      chmodSync(path, entry.mode & 0o700);
      tightened.push(path);
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EPERM") refused.push(path);
      else if (code !== "ENOENT") throw error;
    }
  }
  return entry.isDirectory();
}

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
    if (isFolder(folder)) return;
    // A link to nowhere is there, and what it leads to isn't.
    const isNowhere = statSync(folder, { throwIfNoEntry: false }) === undefined;
    throw isNowhere && (error as NodeJS.ErrnoException).code === "EEXIST"
      ? Object.assign(error as Error, { code: "ENOENT" })
      : error;
  }
}

function isFolder(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false })?.isDirectory() === true;
  } catch {
    return false;
  }
}
