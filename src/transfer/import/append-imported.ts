// Appends imported clicks to streams of the import, one a day, and leaves out those that are there already.
import { hash } from "node:crypto";
import { LRUCache } from "lru-cache";
import { clickStream, IMPORT_WRITER } from "../../events/streams.ts";
import { type EventStore, type NewEvent, RevisionConflict } from "../../stores/event-store/port.ts";
import { streamPages } from "../../stores/event-store/stream-pages.ts";

type Day = { ids: Set<string>; revision: number };

const BATCH = 5_000;
/** Files are mostly in the order of time, so the ids of a day are read once. */
const DAYS_IN_MEMORY = 64;
const ATTEMPTS = 3;

/**
 * One writer an account, so that clicks of an overlapping file are found. `put` keeps up to BATCH events; `flush` appends the
 * rest. Both throw StoreUnavailable, and RevisionConflict when other imports of the account keep appending.
 */
export function clickAppender(deps: { eventStore: EventStore }, accountId: string, dryRun: boolean) {
  const writer = `${IMPORT_WRITER}${hash("sha256", accountId).slice(0, 16)}`;
  const days = new LRUCache<string, Day>({ max: DAYS_IN_MEMORY });
  const counts = { created: 0, already: 0 };
  let waiting: { event: NewEvent; stream: string }[] = [];

  async function dayOf(stream: string): Promise<Day> {
    const cached = days.get(stream);
    if (cached) return cached;
    const day: Day = { ids: new Set(), revision: -1 };
    for await (const page of streamPages(deps.eventStore, stream))
      for (const { id, revision } of page) {
        day.ids.add(id);
        day.revision = revision;
      }
    days.set(stream, day);
    return day;
  }

  async function appendDay(stream: string, clicks: readonly NewEvent[]): Promise<void> {
    const distinct = [...new Map(clicks.map((event) => [event.id, event])).values()];
    for (let attempt = 1; ; attempt++) {
      const day = await dayOf(stream);
      const missing = distinct.filter(({ id }) => !day.ids.has(id));
      let created = missing.length;
      try {
        if (missing.length > 0 && !dryRun) {
          await deps.eventStore.append(stream, day.revision < 0 ? "none" : day.revision, missing);
          const [first] = await deps.eventStore.read(stream, { from: day.revision + 1, limit: 1 });
          // An append of what another import has appended succeeds, too.
          if (first?.metadata.correlationId !== missing[0]?.metadata.correlationId) created = 0;
        }
      } catch (error) {
        if (!(error instanceof RevisionConflict) || attempt === ATTEMPTS) throw error;
        // Another import of the account has appended to the day: it is read again.
        days.delete(stream);
        continue;
      }
      for (const { id } of missing) day.ids.add(id);
      if (!dryRun) day.revision += missing.length;
      counts.created += created;
      counts.already += clicks.length - created;
      return;
    }
  }

  async function flush(): Promise<void> {
    const byStream = Map.groupBy(waiting, ({ stream }) => stream);
    waiting = [];
    for (const [stream, clicks] of byStream)
      await appendDay(
        stream,
        clicks.map(({ event }) => event),
      );
  }

  return {
    async put(event: NewEvent, at: string): Promise<void> {
      waiting.push({ event, stream: clickStream(writer, new Date(at)) });
      if (waiting.length >= BATCH) await flush();
    },
    flush,
    counts,
  };
}
