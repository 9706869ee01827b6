// Where the events of a block belong, in little room: events that follow each other in one stream are one run.
import { deflateSync, inflateSync } from "node:zlib";
import { z } from "zod";
import type { Position } from "../../stores/event-store/port.ts";

export type StreamPlace = { stream: string; revision: number };
export type Place = StreamPlace & { position: Position };

/** What is wrong with an event, or with what is near one. `position`: empty where the event is gone. */
export type LogProblem = Place & { message: string };

/** Of what concerns no single event. */
export const NOWHERE: Place = { stream: "", revision: -1, position: "" };

export function placeOf({ stream, revision, position }: Place): Place {
  return { stream, revision, position };
}

/** Stream and revision of the first event, and how many follow with the next revisions, that one included. */
const runsSchema = z.array(z.tuple([z.string(), z.int(), z.int().min(1)]));
export type Runs = z.infer<typeof runsSchema>;

/** Appends the place of the next event. */
export function addPlace(runs: Runs, { stream, revision }: StreamPlace): void {
  const run = runs.at(-1);
  if (run && run[0] === stream && run[1] + run[2] === revision) run[2] += 1;
  else runs.push([stream, revision, 1]);
}

/** Base64 of compressed JSON. */
export function packPlaces(runs: Runs): string {
  return deflateSync(JSON.stringify(runs)).toString("base64");
}

/** Undefined when `packed` isn't what packPlaces returns, or has more than `most` places. */
export function unpackPlaces(packed: string, most: number): StreamPlace[] | undefined {
  try {
    const json = inflateSync(Buffer.from(packed, "base64"), { maxOutputLength: 2 ** 26 }).toString();
    const runs = runsSchema.parse(JSON.parse(json));
    if (runs.reduce((sum, [, , count]) => sum + count, 0) > most) return undefined;
    return runs.flatMap(([stream, first, count]) =>
      Array.from({ length: count }, (_, n) => ({ stream, revision: first + n })),
    );
  } catch {
    return undefined;
  }
}
