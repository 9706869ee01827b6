// The folder of archive files beside the log, and blocks read from it: checked against their digest, so that a file that
// was changed, cut or replaced gives no events.
import { createHash, hash } from "node:crypto";
import { closeSync, mkdirSync, openSync, readSync } from "node:fs";
import { dirname, join } from "node:path";
import { giveToOwnerOf } from "../../../runtime/private-folder.ts";
import { ArchiveUnreadable } from "../../log-archive.ts";
import type { BatchParts } from "../merged-body.ts";
import type { BlockReference } from "./archived-body.ts";
import { partsOfText, textOfBlock } from "./block.ts";

const PAGE = 1_048_576;

/** `log`: the file of the log. */
export function archiveFolder(log: string): string {
  return join(dirname(log), "archive");
}

export function makeArchiveFolder(folder: string): void {
  const isMade = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined;
  if (isMade) giveToOwnerOf(dirname(folder), folder);
}

/** @throws ArchiveUnreadable when the file is missing or was changed */
export function readArchived(folder: string, reference: BlockReference): BatchParts {
  const { file, offset, bytes } = reference;
  const problem = (what: string) =>
    new ArchiveUnreadable(
      `archive/${file} ${what}: restore it from a backup, \`audit verify\` names what is gone`,
    );
  const block = bytesAt(join(folder, file), offset, bytes);
  if (!block) throw problem("is missing");
  if (!isBlock(block, reference)) throw problem(`is not what was archived, at byte ${offset}`);
  return partsOfText(textOfBlock(block));
}

export function isBlock(block: Uint8Array, { sha256 }: Pick<BlockReference, "sha256">): boolean {
  return hash("sha256", block, "hex") === sha256;
}

/** Fewer bytes at the end of the file; undefined when there is no file. */
export function bytesAt(path: string, offset: number, bytes: number): Buffer | undefined {
  const handle = openIfThere(path);
  if (handle === undefined) return undefined;
  try {
    const found = Buffer.alloc(bytes);
    return found.subarray(0, readSync(handle, found, 0, bytes, offset));
  } finally {
    closeSync(handle);
  }
}

/** SHA-256 of the whole file, hex; undefined when there is none. */
export function digestOf(path: string): string | undefined {
  const handle = openIfThere(path);
  if (handle === undefined) return undefined;
  try {
    const digest = createHash("sha256");
    const page = Buffer.alloc(PAGE);
    for (let read = readSync(handle, page); read > 0; read = readSync(handle, page))
      digest.update(page.subarray(0, read));
    return digest.digest("hex");
  } finally {
    closeSync(handle);
  }
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}
