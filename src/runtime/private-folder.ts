// Keeps what the service writes unreadable for other users of the machine: the umask for new files, modes for old ones.
import { chmodSync, mkdirSync, readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const OTHERS = 0o077;
const STICKY = 0o1000;

/** Every file and folder that this process makes from now on is its user's alone. Main thread only (Node's rule). */
export function makeFilesPrivate(): void {
  process.umask(OTHERS);
}

/**
 * Makes the folder with mode 0700, or takes the rights of others from one that is there, and from those entries in it
 * (folders with all that they hold) whose name `isOwn` accepts: whatever else lies there is not ours to change. A sticky
 * folder such as /tmp is shared on purpose and stays as it is.
 * @returns what was too widely readable, and what could not be changed because it belongs to somebody else
 */
export function openPrivateFolder(
  folder: string,
  isOwn: (name: string) => boolean,
): { tightened: string[]; refused: string[] } {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const found = { tightened: [] as string[], refused: [] as string[] };
  if (!(statSync(folder).mode & STICKY)) tighten(folder, found);
  for (const name of readdirSync(folder).filter(isOwn)) tightenAll(join(folder, name), found);
  return found;
}

type Found = ReturnType<typeof openPrivateFolder>;

function tightenAll(path: string, found: Found): void {
  if (!tighten(path, found)) return;
  for (const name of readdirSync(path)) tightenAll(join(path, name), found);
}

/** Answers whether it is a folder. */
function tighten(path: string, { tightened, refused }: Found): boolean {
  const entry = statSync(path, { throwIfNoEntry: false });
  // Another process may have removed it meanwhile, as SQLite does with its write-ahead logs.
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
