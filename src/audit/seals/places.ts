// Where each event of a block lies, in little room: events that follow each other in one stream are one run.
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import { z } from "zod";
import type { Position } from "../../stores/event-store/port.ts";

export type Place = { stream: string; revision: number; position: Position };

/** What is wrong with an event, or with what is near one. */
export type LogProblem = Place & { message: string };

export function placeOf({ stream, revision, position }: Place): Place {
  return { stream, revision, position };
}

/** Stream, revision and position of the first event, and how many follow with the next revisions and positions. */
const runsSchema = z.array(z.tuple([z.string(), z.int(), z.string(), z.int().min(1)]));
type Run = z.infer<typeof runsSchema>[number];

/** Base64 of compressed JSON. */
export function packPlaces(places: readonly Place[]): string {
  const runs: Run[] = [];
  let expected: Place | undefined;
  for (const { stream, revision, position } of places) {
    const run = runs.at(-1);
    const follows =
      expected?.stream === stream && expected.revision === revision && expected.position === position;
    if (run && follows) run[3] += 1;
    else runs.push([stream, revision, position, 1]);
    expected = { stream, revision: revision + 1, position: nextPosition(position) };
  }
  return zstdCompressSync(JSON.stringify(runs)).toString("base64");
}

/** Undefined when `packed` isn't what packPlaces returns, or has more than `most` places. */
export function unpackPlaces(packed: string, most: number): Place[] | undefined {
  try {
    return placesOf(packed, most);
  } catch {
    return undefined;
  }
}

function placesOf(packed: string, most: number): Place[] {
  const runs = runsSchema.parse(
    JSON.parse(zstdDecompressSync(Buffer.from(packed, "base64"), { maxOutputLength: 2 ** 26 }).toString()),
  );
  if (runs.reduce((sum, [, , , count]) => sum + count, 0) > most)
    throw new RangeError("more places than events");
  return runs.flatMap(([stream, first, start, count]) => {
    let position = start;
    return Array.from({ length: count }, (_, n) => {
      if (n > 0) position = nextPosition(position);
      return { stream, revision: first + n, position };
    });
  });
}

/** On stores that count events; elsewhere a position that no event has. */
function nextPosition(position: Position): Position {
  if (!/^\d+$/.test(position)) return "";
  return String(BigInt(position) + 1n).padStart(position.length, "0");
}
