// Daily salts as files in the data folder, excluded from backups and overwritten when their day has ended.
import { randomBytes } from "node:crypto";
import {
  closeSync,
  existsSync,
  fsyncSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { join } from "node:path";
import { type DailySalts, utcDayOf } from "./daily-salts.ts";

/** Backup tools such as tar, restic and borg exclude folders with this file (https://bford.info/cachedir/). */
const TAG = "CACHEDIR.TAG";
const TAG_TEXT = `Signature: 8a477f597d28d172789f06886806bc55
# Salts that must not outlive their day: exclude this folder from every backup and snapshot.
`;

/** For the processes of one machine that share the folder, which is created when missing. Salts survive a restart. */
export function fileDailySalts(folder: string): DailySalts {
  return {
    async agree({ name }, offered) {
      mkdirSync(folder, { recursive: true, mode: 0o700 });
      writeFileSync(join(folder, TAG), TAG_TEXT, { mode: 0o600 });
      const [file, draft] = [join(folder, name), join(folder, `${name}.${randomBytes(8).toString("hex")}`)];
      writeFileSync(draft, offered, { mode: 0o600, flush: true });
      try {
        // link(2) is atomic: the file appears complete, and of several processes only the first succeeds.
        linkSync(draft, file);
        return offered;
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
        return readFileSync(file, "utf8");
      } finally {
        rmSync(draft, { force: true });
      }
    },

    async sweep(now) {
      if (!existsSync(folder)) return;
      const today = utcDayOf(now.getTime()).name;
      const ended = readdirSync(folder).filter((name) => /^\d{8}/.test(name) && name.slice(0, 8) < today);
      const failures: unknown[] = [];
      for (const name of ended)
        try {
          destroy(join(folder, name));
        } catch (error) {
          failures.push(error);
        }
      if (failures.length > 0) throw failures[0];
    },
  };
}

/** Overwrites the file with zeros before removing it; effective only where the file system writes in place. */
function destroy(file: string): void {
  const size = statSync(file, { throwIfNoEntry: false })?.size;
  if (size === undefined) return;
  const handle = openSync(file, "r+");
  try {
    writeSync(handle, Buffer.alloc(size));
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
  rmSync(file, { force: true });
}
