// What the writer thread does with a batch of hits: makes its events and stores them, in the journal or in the log; and how
// clicks are appended to their writer's stream exactly once, across retries, restarts and processes.
import { newEvent } from "../../events/new-event.ts";
import { gapStream } from "../../events/streams.ts";
import { type ErrorFields, errorFields } from "../../runtime/error-fields.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { type EventStore, type NewEvent, RevisionConflict } from "../../stores/event-store/port.ts";
import type { BatchReader } from "./click-event.ts";
import type { HitBatch } from "./hit.ts";
import type { ClickGap } from "./lost-hits.ts";

/** `after`: last revision of the stream before these events, -1 before the first one. */
export type ClickBatch = { stream: string; after: number; events: readonly NewEvent[] };

export type ClickLog = Pick<EventStore, "append" | "read">;

export type JournalSize = { clicks: number; bytes: number };

/** `failure`: why the event store takes none; `isFull`: the last clicks found no room. */
export type JournalStatus = JournalSize & { isFull: boolean; failure?: ErrorFields };

/** Keeps clicks on disk until the event store has them (journal.ts). */
export type Journal = {
  /** Fsynced when it returns. @throws journal_full, the file system's error: nothing is kept then */
  put(batches: readonly ClickBatch[]): void;
  status(): JournalStatus;
  close(): Promise<void>;
};

/** Last revision of each of the writer's streams. */
export type Revisions = [stream: string, revision: number][];

/** `isUnknown`: a part of the batch may be in the log. `lost`: hits that could not be turned into an event. */
export type Written =
  | {
      stored: true;
      reached: Revisions;
      seconds: number;
      lost: number;
      journal: JournalStatus | undefined;
    }
  | { stored: false; isUnknown: boolean; err: ErrorFields };

/** `journal`: undefined where there is none. `saltProblem`: why salts of ended days are still there. */
export type WriterStatus = { journal: JournalStatus | undefined; saltProblem: string | undefined };

export type ClickWriter = {
  /** One try. `revisions`: as the last batches have answered them, so that this one follows. */
  write(batch: HitBatch, revisions: Revisions): Promise<Written>;
  /** Says in the log which hits were not recorded; again and again with the same gap. @throws what the event store throws */
  appendGap(gap: ClickGap): Promise<void>;
  status(): Promise<WriterStatus>;
  /** After the last batch: appends what is in the journal. */
  close(): Promise<void>;
};

export type ClickWriterDeps = {
  clock: () => Date;
  readBatch: BatchReader;
  eventStore: ClickLog;
  /** Undefined where the log is on the same disk. */
  journal: Journal | undefined;
  /** As in WriterStatus. */
  saltProblem: () => string | undefined;
  log: Pick<BasicLogger, "warn">;
};

/**
 * A SQLite file takes a batch whole or not at all, and says so; a server's answer may be lost on the way. Where the
 * journal can't be written, such as on a full disk, clicks go to the server at once.
 */
export function clickWriter(deps: ClickWriterDeps): ClickWriter {
  const { clock, readBatch, eventStore, journal, saltProblem, log } = deps;

  async function append(batches: readonly ClickBatch[]): Promise<Revisions> {
    const reached: Revisions = [];
    for (const batch of batches)
      reached.push([batch.stream, (await appendClicks(eventStore, batch)).revision]);
    return reached;
  }

  async function store(batches: readonly ClickBatch[]): Promise<Revisions> {
    if (!journal) return await append(batches);
    try {
      journal.put(batches);
    } catch (err) {
      log.warn({ err }, "The click journal can't be written: clicks go to the event store at once");
      return await append(batches);
    }
    return batches.map(({ stream, after, events }) => [stream, after + events.length]);
  }

  return {
    async write(batch, revisions) {
      const started = performance.now();
      const lastRevisions = new Map(revisions);
      const { clicks, lost } = await readBatch(batch);
      const batches = clicks.map(({ stream, events }) => ({
        stream,
        after: lastRevisions.get(stream) ?? -1,
        events,
      }));
      try {
        const reached = await store(batches);
        const seconds = (performance.now() - started) / 1000;
        return { stored: true, reached, seconds, lost, journal: journal?.status() };
      } catch (error) {
        const isUnknown = journal !== undefined || batches.length > 1;
        return { stored: false, isUnknown, err: errorFields(error) };
      }
    },
    async appendGap({ id, from, until, hits }) {
      const iso = (at: number) => new Date(at).toISOString();
      const data = { at: clock().toISOString(), from: iso(from), until: iso(until), hits };
      const event = newEvent({ type: "ClicksNotRecorded", data }, id);
      await appendClicks(eventStore, { stream: gapStream(id), after: -1, events: [event] });
    },
    status: async () => ({ journal: journal?.status(), saltProblem: saltProblem() }),
    close: async () => await journal?.close(),
  };
}

/** `revision`: the stream's last one. `isThere`: by an earlier append, wherever in the stream. */
export type AppendedClicks = { revision: number; isThere: boolean };

/** How far from its end a stream is searched for events that are not where they should be. */
const MOST_SEARCHED = 5_000;

/**
 * The stream is where it should be, unless the answer to an earlier append was lost, or clicks before these are missing:
 * in a journal that can't be read, or in a log that was restored from a backup. Then those that are not there are
 * appended to its end, so that no click waits for another that may never come. `isRepeated`: an earlier append of them may
 * have put them anywhere.
 * @throws what the store throws; RevisionConflict when another process appends to the stream in this moment
 */
export async function appendClicks(
  store: ClickLog,
  { stream, after, events }: ClickBatch,
  { isRepeated = false } = {},
): Promise<AppendedClicks> {
  try {
    if (!isRepeated) {
      const { revision } = await store.append(stream, after < 0 ? "none" : after, events);
      return { revision, isThere: false };
    }
  } catch (error) {
    if (!(error instanceof RevisionConflict)) throw error;
  }
  const inPlace = await store.read(stream, { from: after + 1, limit: events.length });
  const atEnd = await store.read(stream, { backwards: true, limit: MOST_SEARCHED });
  const there = new Set([...inPlace, ...atEnd].map(({ id }) => id));
  const missing = events.filter(({ id }) => !there.has(id));
  const end = atEnd[0]?.revision;
  if (missing.length === 0) return { revision: end ?? -1, isThere: true };
  const { revision } = await store.append(stream, end ?? "none", missing);
  return { revision, isThere: false };
}
