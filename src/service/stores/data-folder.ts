// Keeps the data folder for one service, and readable for that service's own user only, also files that were copied into it.

import { existsSync, lstatSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { makeFolder, openPrivateFolder } from "../../runtime/private-folder.ts";
import { isFolderLocked, lockFolder } from "../../stores/connections/folder-lock.sqlite.ts";

/** Entries of the data folder that the service writes, with the companion files of SQLite. */
const OWN_FILES =
  /^((events|read|secrets|deliveries|limits|lock)\.db(-wal|-shm|-journal)?|secret\.key|click-journal|lost-clicks|visitor-salts)$/;

/** Creates the folder when it is missing; files of a restored backup may be readable for every user of the machine. */
export function openDataFolder(dataDir: string, log: (message: string) => void = () => undefined): void {
  const { tightened, refused } = openPrivateFolder(dataDir, (name) => OWN_FILES.test(name));
  if (tightened.length > 0) log(`DATA_DIR: took the rights of other users from ${tightened.join(", ")}`);
  if (refused.length > 0)
    log(`DATA_DIR: other users may read ${refused.join(", ")}, which another user owns`);
}

/**
 * Keeps other services off the folder until this process ends; commands beside it are not hindered. Creates the folder when
 * it is missing.
 * @throws Failure; StoreUnavailable; the errors of the file system
 */
export function lockDataFolder(dataDir: string): void {
  makeFolder(dataDir, 0o700);
  const lock = lockFolder(dataDir, process.pid);
  // Which also keeps it from being garbage collected, and so released.
  process.once("exit", () => lock.release());
}

/** Where a service that has the folder takes commands: a socket, or a link to one (roles/operator.ts). */
export function socketIn(dataDir: string): string {
  return join(dataDir, "commands.sock");
}

/** What is to be connected to: a link may have too long a path, and leads to one that has not. */
export function socketOf(dataDir: string): string {
  const path = socketIn(dataDir);
  const isLink = lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink();
  // Node's own realpathSync ends early at a socket.
  return isLink && existsSync(path) ? realpathSync.native(path) : path;
}

export { isFolderLocked };
