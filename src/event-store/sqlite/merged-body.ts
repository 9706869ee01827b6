// The body of a merged segment: where its events stand, then the bodies of its parts one behind the other.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { NewEvent } from "../port.ts";
import { eventsOfBody } from "./batch-body.ts";
import { type EventPlace, placesOf, type Runs, runsOf } from "./batch-runs.ts";

/** A body as sqlite/batch-body.ts writes it, and how many events are in it. */
export type Part = { count: number; body: Uint8Array };

type Head = { runs: Runs; counts: number[]; sizes: number[] };

/** The first byte; a body of a single append begins with zstd's magic number (RFC 8878), whose first byte is 0x28. */
const MERGED = 1;
/** That byte, and the length of the compressed head. */
const START = 5;

export function isMerged(body: Uint8Array): boolean {
  return body[0] === MERGED;
}

/** `places`: of all events of the parts, in their order. */
export function mergedBody(places: readonly EventPlace[], parts: readonly Part[]): Uint8Array {
  const counts = parts.map(({ count }) => count);
  const sizes = parts.map(({ body }) => body.length);
  const head = zstdCompressSync(JSON.stringify({ runs: runsOf(places), counts, sizes } satisfies Head));
  const start = Buffer.alloc(START, MERGED);
  start.writeUInt32LE(head.length, 1);
  return Buffer.concat([start, head, ...parts.map(({ body }) => body)]);
}

export function rowsOfMerged(body: Uint8Array): (NewEvent & EventPlace)[] {
  const bytes = Buffer.from(body.buffer, body.byteOffset, body.length);
  let at = START + bytes.readUInt32LE(1);
  const { runs, counts, sizes } = JSON.parse(
    zstdDecompressSync(bytes.subarray(START, at)).toString(),
  ) as Head;
  const events = counts.flatMap((count, part) => {
    const from = at;
    at += sizes[part] ?? 0;
    return eventsOfBody(bytes.subarray(from, at), count);
  });
  return placesOf(runs).map((place, index) => ({ ...place, ...(events[index] as NewEvent) }));
}
