// Writes an exported file under another name first: what has its own name is whole, also after a failed export.
import { renameSync, rmSync, statSync } from "node:fs";

/**
 * What is no file, such as `/dev/stdout`, is written in place. @throws what `write` throws, with the name of `file` where it is
 * an error of the file system; `file` is as it was then
 */
export async function replaceFile(file: string, write: (part: string) => Promise<void>): Promise<void> {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found && !found.isFile()) return await write(file);
  // Of two exports to one file each has a part of its own.
  const part = `${file}.${process.pid}.part`;
  try {
    await write(part);
    renameSync(part, file);
  } catch (error) {
    rmSync(part, { force: true });
    if (error instanceof Error && "syscall" in error) Object.assign(error, { path: file });
    throw error;
  }
}
