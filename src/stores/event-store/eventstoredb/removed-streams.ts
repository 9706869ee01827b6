// Streams that somebody deleted or cut on the server. Their events stay in the log until it is scavenged, while the server
// answers who reads the stream that there are none.
import type { EventStoreDBClient } from "@eventstore/db-client";
import {
  type ReadOptions,
  type RecordedEvent,
  START,
  type StoredText,
  StreamRemoved,
  type StructureProblem,
} from "../port.ts";
import { DELETED_FOR_GOOD } from "./errors.ts";
import { recorded, storedText } from "./events.ts";
import { readStream, selectedAfter } from "./read.ts";
import { METADATA, metadataOf, TOMBSTONE, tombstonesOf } from "./selections.ts";

/** Of the streams as they are now: the newest metadata of a stream replace those before. */
export async function structureProblems(
  client: EventStoreDBClient,
  categories: readonly string[],
  idleMs: number,
): Promise<StructureProblem[]> {
  const all = { after: START, limit: Number.POSITIVE_INFINITY, idleMs };
  const [metadata, tombstones] = await Promise.all(
    [metadataOf, tombstonesOf].map((select) => selectedAfter(client, select(categories), all)),
  );
  const latest = new Map<string, string[]>();
  for (const event of metadata?.events ?? [])
    latest.set(event.stream.slice(METADATA.length), whatHappened(event));
  for (const event of tombstones?.events ?? []) latest.set(event.stream, whatHappened(event));
  return [...latest].flatMap(([stream, problems]) => problems.map((what) => ({ stream, what })));
}

/** The events of a stream; none for a missing one. @throws StreamRemoved when the server leaves out what is asked for */
export async function readWholeStream(
  client: EventStoreDBClient,
  stream: string,
  options: ReadOptions,
  idleMs: number,
): Promise<RecordedEvent[]> {
  const events = await readStream(client, stream, options, idleMs, recorded);
  const { from = 0, backwards = false } = options;
  const [first] = events ?? [];
  // Behind the end of a stream that is there nothing comes.
  const isWhole = first ? backwards || first.revision <= from : events !== undefined && from > 0;
  if (!isWhole) {
    const [metadata] = (await readStream(client, METADATA + stream, NEWEST, idleMs, storedText)) ?? [];
    const [what] = metadata ? whatHappened(metadata) : [];
    if (what) throw new StreamRemoved(stream, what);
    if (first) throw new StreamRemoved(stream, `its events before revision ${first.revision} are gone`);
  }
  return events ?? [];
}

const NEWEST = { backwards: true, limit: 1 };

/** By a tombstone, or the metadata of a stream. */
function whatHappened({ type, data }: StoredText): string[] {
  if (type === TOMBSTONE) return [DELETED_FOR_GOOD];
  const { $tb: before, $maxCount: count, $maxAge: seconds } = JSON.parse(data) as Record<string, unknown>;
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
