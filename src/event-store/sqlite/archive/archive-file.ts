// The format of an archive file: blocks, an index and a trailer, each a zstd frame, so that `zstd -dc` prints it all.
import { createHash, hash } from "node:crypto";
import {
  closeSync,
  fsyncSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { giveToOwnerOf } from "../../../runtime/private-folder.ts";
import { ArchiveUnreadable, type SealRange } from "../../log-archive.ts";
import { bytesAt, makeArchiveFolder } from "./archive-folder.ts";

/** Positions of the first and the last event, and where in the file the block lies. `sha256`: of the block, hex. */
export type BlockEntry = {
  from: number;
  to: number;
  events: number;
  offset: number;
  bytes: number;
  sha256: string;
};

/** `from` and `to` of a stream are revisions. */
export type ArchiveFacts = {
  category: string;
  day: string;
  from: number;
  to: number;
  events: number;
  streams: { stream: string; from: number; to: number }[];
  seals: SealRange;
};

/** `sha256`: of all blocks, hex. */
export type ArchiveIndex = ArchiveFacts & {
  format: "linkledger archive";
  version: 1;
  sha256: string;
  blocks: BlockEntry[];
};

/** A skippable frame (RFC 8878, 3.1.2): its magic number, its size, the offset of the index, and our own mark. */
const TRAILER = { magic: 0x184d2a50, bytes: 24, mark: "LLARCH01" };

const PARTIAL = ".partial";
/** A file that is still being written has changed since. */
const ABANDONED_AFTER_MS = 3_600_000;

/** Writes under another name until the file is complete. `path`: its name then. */
export class ArchiveFileWriter {
  readonly #path: string;
  readonly #partial: string;
  readonly #handle: number;
  readonly #blocks: BlockEntry[] = [];
  readonly #content = createHash("sha256");
  readonly #whole = createHash("sha256");
  #bytes = 0;

  constructor(path: string) {
    const folder = dirname(path);
    makeArchiveFolder(folder);
    this.#path = path;
    this.#partial = `${path}.${process.pid}${PARTIAL}`;
    this.#handle = openSync(this.#partial, "w", 0o600);
    giveToOwnerOf(dirname(folder), this.#partial);
  }

  add(block: Uint8Array, events: Pick<BlockEntry, "from" | "to" | "events">): void {
    const sha256 = hash("sha256", block, "hex");
    this.#blocks.push({ ...events, offset: this.#bytes, bytes: block.length, sha256 });
    this.#content.update(block);
    this.#write(block);
  }

  /** On disk when it returns. `sha256`: of the whole file, hex. */
  finish(facts: ArchiveFacts): { bytes: number; sha256: string } {
    const index: ArchiveIndex = {
      ...{ format: "linkledger archive", version: 1, ...facts },
      ...{ sha256: this.#content.digest("hex"), blocks: this.#blocks },
    };
    const trailer = trailerTo(this.#bytes);
    this.#write(zstdCompressSync(`${JSON.stringify(index)}\n`));
    this.#write(trailer);
    fsyncSync(this.#handle);
    closeSync(this.#handle);
    return { bytes: this.#bytes, sha256: this.#whole.digest("hex") };
  }

  /** After `finish`. Also syncs the entry of the folder, which may be new. */
  publish(): void {
    renameSync(this.#partial, this.#path);
    const folder = dirname(this.#path);
    for (const changed of [folder, dirname(folder)]) {
      const handle = openSync(changed, "r");
      fsyncSync(handle);
      closeSync(handle);
    }
  }

  /** When it can't be published. */
  discard(): void {
    rmSync(this.#partial, { force: true });
  }

  #write(bytes: Uint8Array): void {
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#handle, bytes, at);
    this.#whole.update(bytes);
    this.#bytes += bytes.length;
  }
}

/** Removes what killed processes have left half written. */
export function removeAbandoned(folder: string, now: Date): void {
  for (const name of readdirSync(folder).filter((one) => one.endsWith(PARTIAL))) {
    const path = join(folder, name);
    const { mtimeMs = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
    if (now.getTime() - mtimeMs > ABANDONED_AFTER_MS) rmSync(path, { force: true });
  }
}

/** @throws ArchiveUnreadable when there is no file with an index */
export function readIndex(path: string): ArchiveIndex {
  const { size = 0 } = statSync(path, { throwIfNoEntry: false }) ?? {};
  const trailer = bytesAt(path, Math.max(0, size - TRAILER.bytes), TRAILER.bytes);
  if (trailer?.length === TRAILER.bytes) {
    const at = Number(trailer.readBigUInt64LE(8));
    if (trailerTo(at).equals(trailer)) return indexAt(path, at, size - TRAILER.bytes - at);
  }
  throw new ArchiveUnreadable(`${path} is missing, or is no file of the archive`);
}

function indexAt(path: string, offset: number, bytes: number): ArchiveIndex {
  return JSON.parse(zstdDecompressSync(bytesAt(path, offset, bytes) ?? Buffer.alloc(0)).toString());
}

function trailerTo(offset: number): Buffer {
  const trailer = Buffer.alloc(TRAILER.bytes);
  trailer.writeUInt32LE(TRAILER.magic);
  trailer.writeUInt32LE(TRAILER.bytes - 8, 4);
  trailer.writeBigUInt64LE(BigInt(offset), 8);
  trailer.write(TRAILER.mark, 16, "latin1");
  return trailer;
}
