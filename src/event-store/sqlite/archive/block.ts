// A block of an archive file: the places of its events and the texts of its batches, a line each, as one zstd frame.
import { constants, zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { textOfBody } from "../batch-body.ts";
import { placedRuns, runsOf } from "../batch-runs.ts";
import type { BatchParts, Part, PartsHeader } from "../merged-body.ts";

/** 20 % smaller than the log's level 1, 70,000 clicks a second; level 19 saves another 10 % and takes 20 times as long. */
const SMALL = { params: { [constants.ZSTD_c_compressionLevel]: 12 } };
const NEWLINE = 10;

/** The texts are those of the log, byte for byte, compressed together. */
export function blockOf(parts: BatchParts): Uint8Array {
  return zstdCompressSync(blockText(parts), SMALL);
}

export function blockText({ runs, parts }: BatchParts): Buffer {
  const texts = parts.map(({ body }) => textOfBody(body));
  const counts = parts.map(({ count }) => count);
  const sizes = texts.map(({ length }) => length);
  const header = JSON.stringify({ runs: runsOf(runs), counts, sizes } satisfies PartsHeader);
  const newline = Buffer.of(NEWLINE);
  return Buffer.concat([Buffer.from(header), newline, ...texts.flatMap((text) => [text, newline])]);
}

export function textOfBlock(block: Uint8Array): Buffer {
  return zstdDecompressSync(block);
}

/** The bodies of the parts are not compressed. */
export function partsOfText(text: Buffer): BatchParts {
  const end = text.indexOf(NEWLINE);
  const { runs, counts, sizes } = JSON.parse(text.toString("utf8", 0, end)) as PartsHeader;
  let at = end + 1;
  const parts = counts.map((count, n): Part => {
    const from = at;
    at += (sizes[n] ?? 0) + 1;
    return { count, body: text.subarray(from, at - 1) };
  });
  return { runs: placedRuns(runs), parts };
}
