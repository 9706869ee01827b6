// Finite reads of EventStoreDB: one stream, all streams with a prefix, and the last event of the log.
import { InvalidPosition } from "../foreign-position.ts";
import type { Position, ReadAllOptions, ReadOptions, RecordedEvent } from "../port.ts";
import type { Driver, EventPull } from "./driver.ts";
import { isInvalidPosition, isMissingStream } from "./errors.ts";
import { logPosition } from "./positions.ts";

/** Milliseconds that a search through other programs' events may take: the server is silent while nothing matches. */
const SEARCH_MS = 60_000;

/** A missing or deleted stream reads as empty. `idleMs`: longest silence between two events. */
export async function readStream(
  driver: Driver,
  stream: string,
  { from, backwards = false, limit = Number.MAX_SAFE_INTEGER }: ReadOptions,
  idleMs: number,
): Promise<RecordedEvent[]> {
  if (limit <= 0) return [];
  const events = driver.readStream({ stream, from, backwards, limit });
  return collect(events, limit, idleMs, `a read of ${stream}`);
}

/** The next events of the streams with one of the prefixes. @throws InvalidPosition where no event starts */
export async function readPrefixes(
  driver: Driver,
  { after, from: first, prefixes, limit }: ReadAllOptions,
): Promise<RecordedEvent[]> {
  if (limit <= 0 || prefixes.length === 0) return [];
  const start = first ?? after;
  const from = start === undefined ? undefined : logPosition(start);
  // The read is inclusive, `after` is not: one more, and the event at `after` is left out when it comes.
  const events = driver.readAll({ from, prefixes, limit: after === undefined ? limit : limit + 1 });
  const isNew = ({ position }: RecordedEvent) => after === undefined || position > after;
  return collect(events, limit, SEARCH_MS, "a read of all streams", isNew);
}

/** Of the whole log: also system events and other programs' streams, for lag is counted against the log's end. */
export async function readHead(driver: Driver, idleMs: number): Promise<Position | undefined> {
  const [last] = await collect(driver.readAll("last"), 1, idleMs, "a read of the last event");
  return last?.position;
}

async function collect(
  events: EventPull,
  limit: number,
  idleMs: number,
  what: string,
  wanted: (event: RecordedEvent) => boolean = () => true,
): Promise<RecordedEvent[]> {
  const found: RecordedEvent[] = [];
  try {
    while (found.length < limit) {
      const event = await events.next(idleMs, what);
      if (!event) break;
      if (wanted(event)) found.push(event);
    }
    return found;
  } catch (error) {
    if (isMissingStream(error)) return [];
    if (isInvalidPosition(error)) throw new InvalidPosition({ cause: error });
    throw error;
  } finally {
    // With the limit reached the server would search for a further event that nothing reads.
    events.cancel();
  }
}
