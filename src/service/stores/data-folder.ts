// Makes the data folder readable for the service's own user only, also files that were copied into it.
import { openPrivateFolder } from "../../runtime/private-folder.ts";

/** Entries of the data folder that the service writes, with the companion files of SQLite. */
const OWN_FILES =
  /^((events|read|secrets|deliveries)\.db(-wal|-shm|-journal)?|secret\.key|click-spool|visitor-salts)$/;

/** Creates the folder when it is missing; files of a restored backup may be readable for every user of the machine. */
export function openDataFolder(dataDir: string, log: (message: string) => void = () => undefined): void {
  const { tightened, refused } = openPrivateFolder(dataDir, (name) => OWN_FILES.test(name));
  if (tightened.length > 0) log(`DATA_DIR: took the rights of other users from ${tightened.join(", ")}`);
  if (refused.length > 0)
    log(`DATA_DIR: other users may read ${refused.join(", ")}, which another user owns`);
}
