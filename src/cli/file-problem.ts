// Says in words what is wrong with a file or folder that a command was given.
import { existsSync } from "node:fs";
import { dirname, resolve } from "node:path";

/** Undefined for what is no error of the file system. */
export function fileProblem(error: unknown): string | undefined {
  if (!(error instanceof Error) || !("code" in error)) return undefined;
  const { code, path } = error as NodeJS.ErrnoException;
  const named = path === undefined ? "" : `: ${path}`;
  switch (code) {
    case "ENOENT":
      return path === undefined ? undefined : missing(path);
    case "ENOTDIR":
      return `Not a folder${path === undefined ? "" : `: ${dirname(path)}`}`;
    case "EISDIR":
      return `A folder, not a file${named}`;
    case "EACCES":
    case "EPERM":
      return `This user may not use it${named}`;
    case "EROFS":
      return `The disk can only be read${named}`;
    case "ENOSPC":
      return `The disk is full${named}`;
    default:
      return undefined;
  }
}

function missing(path: string): string {
  const folder = dirname(resolve(path));
  return existsSync(folder) ? `No such file: ${path}` : `No such folder: ${dirname(path)}`;
}
