// Where the click writer's appends go in production: the event store, or at once the spool when that is slow or away.
import { messageOf } from "../errors.ts";
import {
  type EventStore,
  type ExpectedRevision,
  type NewEvent,
  RevisionConflict,
} from "../event-store/port.ts";
import { errorFields } from "../runtime/error-fields.ts";
import { type ClickSpool, type ClickSpools, SpoolFull, type SpoolReport } from "./click-spool.ts";
import type { ClickLog } from "./click-writer.ts";
import { LeftSpools } from "./left-spools.ts";
import { drainOldest } from "./spool-drain.ts";

export type SpoolingLogDeps = {
  eventStore: EventStore;
  spools: ClickSpools;
  /** Ends early, and quietly, when the signal aborts. */
  sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** [0,1) for jitter. */
  random: () => number;
  report: (report: SpoolReport) => void;
  /** Milliseconds the store has for an append before it goes to the spool too; default 20. */
  patienceMs?: number;
};

/** With the writer's own pauses it stays below the 50 ms of clicks that a crash may cost (DESIGN §5). */
const PATIENCE_MS = 20;
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 1_000;
/** How long `close` goes on emptying the spool into a store that takes it. */
const LAST_DRAIN_MS = 4_000;
const LAST_ANSWER_MS = 500;

type Answer = { revision: number } | { error: unknown };

/**
 * An append is answered when its events are in the store or, fsynced, in the spool. Until the spool is empty again
 * all go through it, so order is kept. Each click's place in its stream follows from its number, so an append whose
 * outcome nobody knows, sent again by whoever finds the spool, is the same append at the same revision.
 */
export class SpoolingLog implements ClickLog {
  readonly #deps: SpoolingLogDeps;
  readonly #own: ClickSpool;
  readonly #left: LeftSpools;
  readonly #closing = new AbortController();
  #draining: Promise<void> | undefined;
  #isAway = false;
  #isFull = false;

  constructor(deps: SpoolingLogDeps) {
    this.#deps = deps;
    this.#own = deps.spools.openOwn();
    const report = (message?: string, error?: unknown) => this.#report(message, error);
    this.#left = new LeftSpools({ ...deps, report, pause: (ms) => this.#pause(ms) }, this.#closing.signal);
  }

  async append(stream: string, expected: ExpectedRevision, events: readonly NewEvent[]) {
    const place = placeOf(expected);
    if (this.#draining) return this.#spool(stream, place, events);
    const attempt = this.#deps.eventStore
      .append(stream, expected, events)
      .catch((error: unknown): Answer => ({ error }));
    const inTime = await this.#within(this.#deps.patienceMs ?? PATIENCE_MS, attempt);
    if (inTime && "revision" in inTime) return inTime;
    if (inTime && isPastPlace(inTime.error, place)) throw inTime.error;
    try {
      const { number, revision } = this.#spool(stream, place, events);
      this.#draining = this.#drain(number, attempt);
      return { revision };
    } catch {
      // Without room the clicks wait for the store itself.
      const answer = await attempt;
      if ("revision" in answer) return answer;
      throw answer.error;
    }
  }

  read(stream: string, options?: Parameters<EventStore["read"]>[1]) {
    return this.#deps.eventStore.read(stream, options);
  }

  /** Empties the spool if the store takes it within four seconds; the rest waits for the next recorder. */
  async close(): Promise<void> {
    if (this.#draining && !this.#isAway) {
      const enough = new AbortController();
      await Promise.race([this.#draining, this.#deps.sleep(LAST_DRAIN_MS, enough.signal)]);
      enough.abort();
    }
    this.#closing.abort();
    // What an unanswered append becomes is found out by whoever opens the spool next.
    const settled = Promise.all([this.#draining, this.#left.ended]);
    await Promise.race([settled, this.#deps.sleep(LAST_ANSWER_MS)]);
    this.#left.close();
    this.#own.close();
  }

  #spool(stream: string, place: number, events: readonly NewEvent[]): { number: number; revision: number } {
    try {
      const number = this.#own.put(stream, place < 0 ? "none" : place, events);
      this.#isFull = false;
      this.#report();
      return { number, revision: place + events.length };
    } catch (error) {
      this.#isFull = error instanceof SpoolFull;
      this.#report(messageOf(error), error);
      throw error;
    }
  }

  /** Until nothing waits. `first` is the number of the clicks whose attempt is still under way. */
  async #drain(first: number, attempt: Promise<Answer>): Promise<void> {
    const answer = await attempt;
    if ("error" in answer) this.#noteAway(answer.error);
    else this.#dropAppended(first);
    let outage = this.#isAway;
    for (let pause = FIRST_PAUSE_MS; this.#own.size().clicks > 0 && !this.#closing.signal.aborted; ) {
      try {
        await drainOldest(this.#own, this.#deps.eventStore);
        this.#isAway = false;
        pause = FIRST_PAUSE_MS;
        this.#report();
      } catch (error) {
        outage = true;
        this.#noteAway(error);
        await this.#pause(pause);
        pause = Math.min(pause * 2, LONGEST_PAUSE_MS);
      }
    }
    // Nothing may be awaited since the spool was seen empty: from here on appends overtake it.
    this.#draining = undefined;
    const emptied = outage && this.#own.size().clicks === 0;
    this.#report(emptied ? "The event store has all clicks of the spool" : undefined);
  }

  /** If it fails, they are appended again, which changes nothing. */
  #dropAppended(upTo: number): void {
    try {
      this.#own.drop(upTo);
    } catch (error) {
      this.#report(messageOf(error), error);
    }
  }

  /** Undefined when it is late. */
  async #within(ms: number, attempt: Promise<Answer>): Promise<Answer | undefined> {
    const answered = new AbortController();
    const late = this.#deps.sleep(ms, answered.signal).then(() => undefined);
    return Promise.race([attempt, late]).finally(() => answered.abort());
  }

  async #pause(ms: number): Promise<void> {
    await this.#deps.sleep(ms * (0.5 + this.#deps.random() / 2), this.#closing.signal);
  }

  #noteAway(error: unknown): void {
    if (this.#isAway) return;
    this.#isAway = true;
    this.#report(`Clicks wait in the spool: ${messageOf(error)}`, error);
  }

  #report(message?: string, error?: unknown): void {
    const own = this.#own.size();
    const left = this.#left.size();
    const [clicks, bytes] = [own.clicks + left.clicks, own.bytes + left.bytes];
    const report = { type: "spool", clicks, bytes, full: this.#isFull } as const;
    const err = error === undefined ? {} : { err: errorFields(error) };
    this.#deps.report(message === undefined ? report : { ...report, message, ...err });
  }
}

/** The last revision before the append, -1 before the first one. */
function placeOf(expected: ExpectedRevision): number {
  if (typeof expected === "number") return expected;
  if (expected === "none") return -1;
  throw new RangeError("Clicks are appended at an exact revision");
}

/** Part of it is there: the writer sorts that out. A stream that is behind waits for what a dead thread has left. */
function isPastPlace(error: unknown, place: number): boolean {
  if (!(error instanceof RevisionConflict)) return false;
  return (error.actual === "none" ? -1 : error.actual) > place;
}
