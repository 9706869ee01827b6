// Appends batches of hits to the writer's own streams: in order, exactly once, for as long as the store takes.
import { messageOf } from "../errors.ts";
import {
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  RevisionConflict,
} from "../event-store/port.ts";
import type { LinkClicked } from "../events/catalogue.ts";
import { timeOrderedId } from "../events/ids.ts";
import { newEvent } from "../events/new-event.ts";
import { clickStream } from "../events/streams.ts";
import { type ErrorFields, errorFields } from "../runtime/error-fields.ts";
import type { Enrich } from "./click-event.ts";
import { type Hit, type HitBatch, hitsOf, unpackTarget } from "./hit.ts";
import { remember } from "./remember.ts";
import type { VisitorOf } from "./visitor.ts";

/** What is asked of an event store here; in production a spool stands in for it when it is away. */
export type ClickLog = {
  append(
    stream: string,
    expected: ExpectedRevision,
    events: readonly NewEvent[],
  ): Promise<{ revision: number }>;
  read: EventStore["read"];
};

export type ClickWriterDeps = {
  eventStore: ClickLog;
  enrich: Enrich;
  visitors: (at: number) => Promise<VisitorOf>;
  sleep: (ms: number) => Promise<void>;
  /** [0,1) for jitter. */
  random: () => number;
  /** Lower-case hex, at least 16 digits, of this process's life alone: nobody else appends to its streams. */
  writer: string;
  /** Last revisions the writer is known to have reached, from an earlier thread of the same process. */
  revisions: ReadonlyMap<string, number>;
  report: (report: WriterReport) => void;
};

export type WriterReport =
  /** All batches up to this one are committed; `reached`: the last revision of each stream written. */
  | {
      type: "committed";
      upTo: number;
      appends: { hits: number; seconds: number }[];
      reached: [string, number][];
    }
  /** Something failed and is tried again, or (`lost`) a hit that can't be an event at all. */
  | { type: "trouble"; message: string; err: ErrorFields; lost?: number };

// Larger groups cost fewer fsyncs; an adapter with a smaller limit splits them itself, the same way at every try.
const MAX_HITS_AN_APPEND = 2_000;
const LONGEST_PAUSE_MS = 5_000;

export class ClickWriter {
  readonly #deps: ClickWriterDeps;
  readonly #revisions: Map<string, number>;
  /** One object for hits on the same link, so that what follows from the link is worked out once. */
  readonly #targetOf = remember(20_000, unpackTarget);
  #waiting: HitBatch[] = [];
  #running = false;

  constructor(deps: ClickWriterDeps) {
    this.#deps = deps;
    this.#revisions = new Map(deps.revisions);
  }

  /** Batches must come in the order of their numbers. */
  push(batch: HitBatch): void {
    this.#waiting.push(batch);
    if (this.#running) return;
    this.#running = true;
    void this.#writeAll();
  }

  /** One append in flight; what comes meanwhile goes together into the next one (group commit). */
  async #writeAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const group = this.#nextGroup();
      const appends: { hits: number; seconds: number }[] = [];
      const reached: [string, number][] = [];
      for (const [stream, events] of await this.#persistently(() => this.#eventsByStream(group))) {
        const started = performance.now();
        await this.#append(stream, events);
        appends.push({ hits: events.length, seconds: (performance.now() - started) / 1000 });
        reached.push([stream, this.#revisions.get(stream) ?? -1]);
      }
      const upTo = group.at(-1)?.batch ?? 0;
      this.#deps.report({ type: "committed", upTo, appends, reached });
    }
    this.#running = false;
  }

  #nextGroup(): HitBatch[] {
    let hits = 0;
    let batches = 0;
    for (const batch of this.#waiting) {
      if (batches > 0 && hits + batch.count > MAX_HITS_AN_APPEND) break;
      hits += batch.count;
      batches++;
    }
    return this.#waiting.splice(0, batches);
  }

  /** A hit belongs to the stream of its own day, so a batch across midnight is split the same way every time. */
  async #eventsByStream(group: readonly HitBatch[]): Promise<Map<string, NewEvent[]>> {
    const byStream = new Map<string, NewEvent[]>();
    let day = Number.NaN;
    let visitorOf: VisitorOf = () => "";
    let events: NewEvent[] = [];
    for (const batch of group) {
      for (const { number, hit } of hitsOf(batch, this.#targetOf)) {
        const hitDay = Math.floor(hit.at / 86_400_000);
        if (hitDay !== day) {
          day = hitDay;
          visitorOf = await this.#deps.visitors(hit.at);
          const stream = clickStream(this.#deps.writer, new Date(hit.at));
          events = byStream.get(stream) ?? [];
          byStream.set(stream, events);
        }
        const event = this.#eventOf(hit, number, visitorOf);
        if (event) events.push(event);
      }
    }
    for (const [stream, list] of byStream) if (list.length === 0) byStream.delete(stream);
    return byStream;
  }

  #eventOf(hit: Hit, number: number, visitorOf: VisitorOf): NewEvent | undefined {
    const id = eventId(this.#deps.writer, hit.at, number);
    const origin = { correlationId: id, causationId: id, actor: { type: "system", id: "redirect" } } as const;
    try {
      return newEvent(this.#deps.enrich(hit, visitorOf) satisfies LinkClicked, id, origin);
    } catch (error) {
      // No later try can make an event of it; the others must not wait for it for ever.
      const message = `Hit on ${hit.link.key}: ${messageOf(error)}`;
      this.#deps.report({ type: "trouble", message, err: errorFields(error), lost: 1 });
      return undefined;
    }
  }

  /**
   * A retry after an unknown outcome is the same append at the same revision. A conflict means that an earlier
   * thread's append arrived after all: the tail of our own stream tells which events are there.
   */
  async #append(stream: string, events: NewEvent[]): Promise<void> {
    let missing = events;
    await this.#persistently(async () => {
      try {
        if (missing.length === 0) return;
        const expected = this.#revisions.get(stream) ?? "none";
        const { revision } = await this.#deps.eventStore.append(stream, expected, missing);
        this.#revisions.set(stream, revision);
      } catch (error) {
        if (!(error instanceof RevisionConflict)) throw error;
        missing = await this.#withoutStored(stream, missing);
        if (missing.length > 0) throw error;
      }
    });
  }

  async #withoutStored(stream: string, events: NewEvent[]): Promise<NewEvent[]> {
    const from = (this.#revisions.get(stream) ?? -1) + 1;
    const tail = await this.#deps.eventStore.read(stream, { from });
    const last = tail.at(-1);
    if (last) this.#revisions.set(stream, last.revision);
    const stored = new Set(tail.map((event) => event.id));
    return events.filter((event) => !stored.has(event.id));
  }

  /** Tries for ever, with jittered pauses that double: order is kept and nothing is given up while we live. */
  async #persistently<T>(action: () => Promise<T>): Promise<T> {
    for (let pause = 20; ; pause = Math.min(pause * 2, LONGEST_PAUSE_MS)) {
      try {
        return await action();
      } catch (error) {
        this.#deps.report({ type: "trouble", message: messageOf(error), err: errorFields(error) });
        await this.#deps.sleep(pause * (0.5 + this.#deps.random() / 2));
      }
    }
  }
}

/** Follows from writer, time and number alone, so that a batch sent again has the ids of the first time. */
export function eventId(writer: string, at: number, number: number): string {
  return timeOrderedId(at, writer.slice(0, 10) + number.toString(16).padStart(10, "0"));
}
