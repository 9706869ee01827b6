// The body of a merged batch: a header with the places of its events, then the concatenated bodies of its parts.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { type PlacedRun, placedRuns, type Runs, runsOf } from "./batch-runs.ts";

/** A body from batch-body.ts and its number of events. */
export type Part = { count: number; body: Uint8Array };

/** The bodies of a batch's appends, and the places of their events in the same order. */
export type BatchParts = { runs: PlacedRun[]; parts: Part[] };

/** Counts of events and sizes in bytes, of each part. */
export type PartsHeader = { runs: Runs; counts: number[]; sizes: number[] };

/** First byte of a merged body; that of a single append is 0x28, from zstd's magic number (RFC 8878). */
const MERGED = 1;
/** Length of the first byte and of the uint32 with the size of the compressed header. */
const START = 5;

export function isMerged(body: Uint8Array): boolean {
  return body[0] === MERGED;
}

/** `placed`: the places of all events of the parts, in the same order. */
export function mergedBody(placed: readonly PlacedRun[], parts: readonly Part[]): Uint8Array {
  const counts = parts.map(({ count }) => count);
  const sizes = parts.map(({ body }) => body.length);
  const header = zstdCompressSync(
    JSON.stringify({ runs: runsOf(placed), counts, sizes } satisfies PartsHeader),
  );
  const start = Buffer.alloc(START, MERGED);
  start.writeUInt32LE(header.length, 1);
  return Buffer.concat([start, header, ...parts.map(({ body }) => body)]);
}

export function partsOfMerged(body: Uint8Array): BatchParts {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  let at = START + bytes.readUInt32LE(1);
  const { runs, counts, sizes } = JSON.parse(
    zstdDecompressSync(bytes.subarray(START, at)).toString(),
  ) as PartsHeader;
  const parts = counts.map((count, part) => {
    const from = at;
    at += sizes[part] ?? 0;
    return { count, body: bytes.subarray(from, at) };
  });
  return { runs: placedRuns(runs), parts };
}
