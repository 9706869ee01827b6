// Finite reads of EventStoreDB: one stream, all streams with a prefix, and the last event of the log.
import {
  BACKWARDS,
  END,
  type EventStoreDBClient,
  FORWARDS,
  type ResolvedEvent,
  START,
} from "@eventstore/db-client";
import type { Position, ReadAllOptions, ReadOptions, RecordedEvent } from "../port.ts";
import { readAllFiltered } from "./client.ts";
import { isMissingStream } from "./errors.ts";
import { logPosition, positionText, recordedEvent } from "./events.ts";
import { Pull } from "./pull.ts";

type Finite = ConstructorParameters<typeof Pull>[0] & { cancel(): Promise<void> };

/** A missing or deleted stream reads as empty. `idleMs`: longest silence between two events. */
export async function readStream(
  client: EventStoreDBClient,
  stream: string,
  { from, backwards = false, limit = Number.MAX_SAFE_INTEGER }: ReadOptions,
  idleMs: number,
): Promise<RecordedEvent[]> {
  if (limit <= 0) return [];
  const events = client.readStream(stream, {
    direction: backwards ? BACKWARDS : FORWARDS,
    fromRevision: from === undefined ? (backwards ? END : START) : BigInt(from),
    maxCount: limit,
  });
  return collect(events, limit, idleMs, `a read of ${stream}`);
}

/** `idleMs` must allow for a search: the server is silent while nothing matches. */
export async function readPrefixes(
  client: EventStoreDBClient,
  { after, prefixes, limit }: ReadAllOptions,
  idleMs: number,
): Promise<RecordedEvent[]> {
  if (limit <= 0 || prefixes.length === 0) return [];
  const from = after === undefined ? undefined : logPosition(after);
  // The read is inclusive, the port is not: one more, and the event at `after` is left out when it comes.
  const events = readAllFiltered(client, from, prefixes, limit + 1);
  const isNew = ({ position }: RecordedEvent) => after === undefined || position > after;
  return collect(events, limit, idleMs, "a read of all streams", isNew);
}

/** Of the whole log: also system events and other programs' streams, for lag is counted against the log's end. */
export async function readHead(client: EventStoreDBClient, idleMs: number): Promise<Position | undefined> {
  const events = client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 });
  const pull = new Pull<ResolvedEvent>(events, Date.now);
  try {
    const last = await pull.next(idleMs, "a read of the last event");
    const position = last?.link?.position ?? last?.event?.position;
    return position && positionText(position);
  } finally {
    events.cancel().catch(() => {});
  }
}

async function collect(
  stream: Finite,
  limit: number,
  idleMs: number,
  what: string,
  wanted: (event: RecordedEvent) => boolean = () => true,
): Promise<RecordedEvent[]> {
  const found: RecordedEvent[] = [];
  const pull = new Pull<ResolvedEvent>(stream, Date.now);
  try {
    while (found.length < limit) {
      const item = await pull.next(idleMs, what);
      if (!item) break;
      const event = item.event && recordedEvent(item.event);
      if (event && wanted(event)) found.push(event);
    }
    return found;
  } catch (error) {
    if (isMissingStream(error)) return [];
    throw error;
  } finally {
    // With the limit reached the server would search on for an event that nobody takes.
    stream.cancel().catch(() => {});
  }
}
