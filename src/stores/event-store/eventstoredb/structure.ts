// Streams that somebody deleted or cut on the server: their events stay in the log until it is scavenged, but no read of
// their stream finds them.
import type { EventStoreDBClient } from "@eventstore/db-client";
import type { RecordedEvent, StructureProblem } from "../port.ts";
import { selectedAfter } from "./read.ts";
import { streamChanges, TOMBSTONE } from "./selections.ts";

/** What precedes a stream's name in that of its metadata. */
const METADATA = "$$";

/** What is true of the streams of all programs now: metadata are replaced as a whole. */
export async function structureProblems(
  client: EventStoreDBClient,
  idleMs: number,
): Promise<StructureProblem[]> {
  const all = { after: undefined, limit: Number.POSITIVE_INFINITY, idleMs };
  const latest = new Map<string, string[]>();
  for (const event of await selectedAfter(client, streamChanges(), all)) {
    const stream = event.type === TOMBSTONE ? event.stream : event.stream.slice(METADATA.length);
    if (!stream.startsWith("$")) latest.set(stream, whatHappened(event));
  }
  return [...latest].flatMap(([stream, problems]) => problems.map((what) => ({ stream, what })));
}

/** By a tombstone, or the metadata of a stream. */
function whatHappened({ type, data }: RecordedEvent): string[] {
  if (type === TOMBSTONE) return ["it was deleted for good on the server"];
  const { $tb: before, $maxCount: count, $maxAge: seconds } = (data ?? {}) as Record<string, unknown>;
  return [
    ...(before === undefined ? [] : [cutBefore(Number(before))]),
    ...(count === undefined ? [] : [`only its last ${count} events are kept on the server ($maxCount)`]),
    ...(seconds === undefined ? [] : [`its events are kept for ${seconds} s on the server ($maxAge)`]),
  ];
}

/** A soft delete cuts before the largest number of 63 bits. */
function cutBefore(revision: number): string {
  return revision > Number.MAX_SAFE_INTEGER
    ? "it was deleted on the server"
    : `its events before revision ${revision} were cut on the server ($tb)`;
}
