// The files that a command is told to read or write, which belong to whoever gives the command.
import {
  constants,
  createReadStream,
  createWriteStream,
  openSync,
  renameSync,
  rmSync,
  statSync,
} from "node:fs";
import { Socket } from "node:net";
import { addAbortSignal, Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { Failure } from "../runtime/errors.ts";
import type { Source } from "../transfer/import/reading/lines.ts";

/** Instead of a file's name. */
export const STANDARD_INPUT = "-";
export const STANDARD_OUTPUT = "-";

/** Each throws what the file system says, with the file's name; `size` of a source a Failure for a folder. */
export type Files = {
  source(file: string): Source;
  /**
   * Writes under another name first: what has its own name is whole, also after a failure, and `file` is as it was then. What
   * is no file, such as `/dev/stdout`, is written in place. Resolves with its size in bytes. Throws also what `parts` throws.
   */
  write(file: string, parts: AsyncIterable<string | Uint8Array>): Promise<number>;
};

/** Of this process. */
export const ownFiles: Files = {
  source: (file) => ({
    name: nameOf(file),
    async size() {
      if (file === STANDARD_INPUT) return 0;
      const stats = statSync(file);
      if (stats.isDirectory()) throw new Failure(`A folder, not a file: ${file}`);
      return stats.size;
    },
    read(signal) {
      const stream = streamOf(file);
      return signal ? addAbortSignal(signal, stream) : stream;
    },
  }),
  async write(file, parts) {
    const isInPlace = statSync(file, { throwIfNoEntry: false })?.isFile() === false;
    // Of two exports to one file each has a part of its own.
    const part = isInPlace ? file : `${file}.${process.pid}.part`;
    try {
      await pipeline(Readable.from(parts), createWriteStream(part, { mode: 0o600 }));
      if (!isInPlace) renameSync(part, file);
    } catch (error) {
      if (!isInPlace) rmSync(part, { force: true });
      if (error instanceof Error && "syscall" in error) Object.assign(error, { path: file });
      throw error;
    }
    return statSync(file).size;
  },
};

/** As messages call it. */
export function nameOf(file: string): string {
  return file === STANDARD_INPUT ? "standard input" : file;
}

/** Opening or reading a pipe where nobody writes would block a thread of Node's, and with it the end of the process. */
function streamOf(file: string): Readable {
  if (file === STANDARD_INPUT) return process.stdin;
  if (!statSync(file, { throwIfNoEntry: false })?.isFIFO()) return createReadStream(file);
  const fd = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}
