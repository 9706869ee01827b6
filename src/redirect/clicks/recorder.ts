// Hands batches of hits from the HTTP thread to the writer thread, and says when a redirect has to wait for its click.
// What is answered and not stored is at most MOST_UNSTORED, unless nothing can be stored for a second: then redirects go on,
// and up to MOST_KEPT hits wait in memory. A durable redirect is answered when its click is stored, or 503.
import { setTimeout as delay } from "node:timers/promises";
import { Histogram } from "prom-client";
import { Refused } from "../../commands/refusals.ts";
import { type ErrorFields, errorFields } from "../../runtime/error-fields.ts";
import { backoffMs } from "../../runtime/keep-trying.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import type { LogHealth } from "../../stores/coordination/log-health.ts";
import type { ClickWriter, JournalStatus, Revisions, Written } from "./append-clicks.ts";
import type { HitBatch, RawHit } from "./hit.ts";
import { type Batch, FLUSH_AFTER_MS, HitBatches, takeWaiting } from "./hit-batches.ts";
import { type ClickGap, type LossNotes, type LossStatus, LostHits } from "./lost-hits.ts";

export type RecorderDeps = {
  durability: "batched" | "durable";
  /** In the writer thread: rejects where the thread ends, and starts another at the next call. */
  writer: ClickWriter;
  /** [0,1) for jitter. */
  random: () => number;
  newId: () => string;
  /** Undefined where nothing outlives the process. */
  notes?: LossNotes;
  /** Monotonic milliseconds. */
  now?: () => number;
  /** Default MOST_KEPT. */
  mostKept?: number;
  /** Told whether clicks can be stored. */
  health?: Pick<LogHealth, "notWritten" | "written">;
  log: Pick<BasicLogger, "warn">;
};

export type RecorderStatus = {
  recorded: number;
  committed: number;
  /** Hits that are not stored: of redirects that are answered, and of those that wait. */
  waiting: number;
  /** Of redirects that are answered: what a crash loses. */
  unstored: number;
  /** Hits that could not be turned into an event; more than 0 is a bug. */
  lost: number;
  /** Nothing is stored for a second or, if durable, a try has failed. `refuses`: redirects are answered 503 meanwhile. */
  stall: { refuses: boolean } | undefined;
  /** Of redirects that were answered, and for whose hits there was no room. */
  notRecorded: LossStatus;
  writerRestarts: number;
  /** Undefined without a journal, and until the writer has first answered. */
  journal: JournalStatus | undefined;
  /** Why salts of ended days are still there. */
  saltProblem: string | undefined;
};

/** What a `kill -9` loses at most where clicks can be stored: `clicks`, all of them answered within `ms` of each other. */
export const MOST_UNSTORED = { clicks: 2_000, ms: 100 };
/** Hits in memory while nothing can be stored: some 100 MB. */
export const MOST_KEPT = 200_000;

/** With a sweep, a redirect waits a second at most: no longer for its own click, nor where none is stored for so long. */
const LONGEST_WAIT_MS = 900;
const SWEEP_EVERY_MS = 100;
/** Redirects that wait at once. */
const MOST_WAITING = 50_000;
/** Characters of each header of a hit that is kept meanwhile, so that strangers can't fill the memory. */
const MOST_OF_HEADER = 512;
const RETRY = { fromMs: 50, toMs: 1_000 };
/** After midnight the stream of the day before may still get a late hit. */
const MOST_STREAMS = 3;
/** Share of the stop's time. */
const GIVE_UP_AFTER = 0.9;

export class ClickRecorder {
  /** Not registered here: the metrics collector adds it to its registry. */
  readonly appendDuration = new Histogram({
    name: "linkledger_click_append_duration_seconds",
    help: "Time in which a batch of clicks was stored: in the log, or with servers in the journal",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [],
  });
  readonly #deps: RecorderDeps;
  readonly #now: () => number;
  readonly #batches = new HitBatches();
  #sending: Promise<void> | undefined;
  #timer: NodeJS.Timeout | undefined;
  #sweeper: NodeJS.Timeout | undefined;
  #isEnding = false;
  /** Tries to store that have failed since one succeeded. */
  #failures = 0;
  #storedAt = Number.NEGATIVE_INFINITY;
  readonly #lostHits: LostHits;
  readonly #revisions = new Map<string, number>();
  #unstored = 0;
  #lost = 0;
  #restarts = 0;
  #journal: JournalStatus | undefined;
  #saltProblem: string | undefined;
  #lastNote = "";

  constructor(deps: RecorderDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? (() => performance.now());
    const { writer, newId, random, notes } = deps;
    this.#lostHits = new LostHits({ append: (gap) => writer.appendGap(gap), newId, random, notes });
  }

  /**
   * Undefined when the redirect can be answered now. A promise when it has to wait for its click: always if durable, else
   * where as much is unstored as may be, for a second at most.
   * @throws recorder_busy (through the promise) if durable: after a second, and at once where a try to store has failed. The
   *   hit is not recorded then, unless its outcome is unknown: it was being stored, and the writer could not say that it
   *   was not
   */
  record(hit: RawHit): Promise<void> | undefined {
    const now = this.#now();
    if (this.#mayAnswer(now)) {
      this.#answer(this.#add(hit, now));
      return undefined;
    }
    const { backlog } = this.#batches;
    if (this.#isStalled(now) || backlog >= MOST_WAITING) {
      if (this.#isDurable) return Promise.reject(busy());
      if (backlog >= (this.#deps.mostKept ?? MOST_KEPT)) this.#lostHits.add(hit.at);
      else this.#answer(this.#add(hit, now, MOST_OF_HEADER));
      return undefined;
    }
    return new Promise((resolve, reject) => {
      const { waiters, hits } = this.#add(hit, now);
      waiters.push({ index: hits.count - 1, until: now + LONGEST_WAIT_MS, resolve, reject });
      this.#sweeper ??= setInterval(() => this.#sweep(), SWEEP_EVERY_MS);
    });
  }

  /** Resolves when every hit recorded so far is stored; no time limit. */
  async storeAll(): Promise<void> {
    this.#isEnding = true;
    while (this.#batches.oldest || this.#sending) await (this.#sending ?? this.#send());
    this.#isEnding = false;
  }

  /**
   * Stores all, with servers in the event store if it takes them. `withinMs`: after it the process ends all the same, so a
   * little earlier it is said and noted how many clicks are lost with it.
   */
  async close(withinMs?: number): Promise<void> {
    let lost: ClickGap | undefined;
    const note = () => {
      this.#note(`Stopping: ${this.#unstored} answered clicks are not stored, and will be lost`);
      lost = this.#unstored > 0 ? this.#batches.gap(this.#deps.newId(), this.#unstored) : undefined;
      this.#lostHits.note(lost);
    };
    const timer = withinMs === undefined ? undefined : setTimeout(note, withinMs * GIVE_UP_AFTER);
    await this.storeAll().finally(() => clearTimeout(timer));
    if (lost) this.#lostHits.clear(lost);
    await this.#lostHits.close();
    await this.#deps.writer.close();
  }

  /** With the journal as it is now, or as it last was where the writer doesn't answer within `withinMs`. */
  async status(withinMs = 500): Promise<RecorderStatus> {
    const asking = this.#deps.writer.status().then(({ journal, saltProblem }) => {
      this.#journal = journal;
      this.#saltProblem = saltProblem;
    });
    await Promise.race([asking.catch(() => undefined), delay(withinMs, undefined, { ref: false })]);
    return {
      recorded: this.#batches.recorded,
      committed: this.#batches.committed,
      waiting: this.#batches.backlog,
      unstored: this.#unstored,
      lost: this.#lost,
      stall: this.#isStalled(this.#now()) ? { refuses: this.#isDurable } : undefined,
      notRecorded: this.#lostHits.status(),
      writerRestarts: this.#restarts,
      journal: this.#journal,
      saltProblem: this.#saltProblem,
    };
  }

  get #isDurable(): boolean {
    return this.#deps.durability === "durable";
  }

  #mayAnswer(now: number): boolean {
    if (this.#isDurable || this.#unstored >= MOST_UNSTORED.clicks) return false;
    const { oldest } = this.#batches;
    return oldest === undefined || now - oldest.startedAt < MOST_UNSTORED.ms;
  }

  /** If durable, the first redirect after the rest that follows a failure waits again: its hit is the next try. */
  #isStalled(now: number): boolean {
    const { oldest, inFlight } = this.#batches;
    if (this.#isDurable && this.#failures > 0 && inFlight) return true;
    return oldest !== undefined && now - Math.max(oldest.startedAt, this.#storedAt) >= LONGEST_WAIT_MS;
  }

  #answer(batch: Batch): void {
    batch.answered++;
    this.#unstored++;
  }

  #add(hit: RawHit, now: number, mostOfHeader?: number): Batch {
    const batch = this.#batches.add(hit, now, mostOfHeader);
    if (this.#sending) return batch;
    if (this.#batches.isFull) this.#startSending();
    // Hits of one turn of the event loop go together, as do those that come during the last fsync.
    else this.#timer ??= setTimeout(() => this.#startSending(), this.#isDurable ? 0 : FLUSH_AFTER_MS);
    return batch;
  }

  #startSending(): void {
    if (!this.#sending) void this.#send();
  }

  /** Stores what is due, one batch after the other. Never rejects. */
  #send(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const send = async () => {
      do {
        const batch = this.#batches.takeNext();
        if (batch) await this.#store(batch);
        this.#batches.settle();
      } while (this.#batches.isDue(this.#now(), this.#isEnding));
    };
    this.#sending = send().then(() => {
      this.#sending = undefined;
      const { oldest } = this.#batches;
      if (!oldest) return;
      const rest = Math.max(0, FLUSH_AFTER_MS - (this.#now() - oldest.startedAt));
      this.#timer ??= setTimeout(() => this.#startSending(), rest);
    });
    return this.#sending;
  }

  /**
   * Tries without end, with the same events each time: whatever a try has left in the log is recognised by their ids.
   * Only where no try can have left anything, hits whose redirects were answered 503 are taken out.
   */
  async #store(batch: Batch): Promise<void> {
    let isUnknown = false;
    let hasEnded = false;
    while (batch.hits.count > batch.hits.takenBack) {
      const written = await this.#try(batch.hits);
      if (written.stored) return this.#onStored(batch, written);
      isUnknown ||= written.isUnknown;
      // The next try starts another thread: that one has ended says nothing of the log.
      if ("ended" in written && !hasEnded) {
        hasEnded = true;
        continue;
      }
      this.#failures++;
      // First, as it says what to do, and of one outage one line is logged.
      this.#deps.health?.notWritten("clicks", written.err);
      this.#note(`Clicks can't be stored: ${written.err.message}`, written.err);
      if (this.#isDurable) this.#sweep(Number.POSITIVE_INFINITY);
      if (!isUnknown) this.#batches.takeBackGone(batch);
      await delay(backoffMs(this.#failures, RETRY, this.#deps.random));
    }
  }

  async #try(
    hits: HitBatch,
  ): Promise<Written | { stored: false; isUnknown: true; ended: true; err: ErrorFields }> {
    const revisions: Revisions = [...this.#revisions];
    try {
      return await this.#deps.writer.write(hits, revisions);
    } catch (error) {
      this.#restarts++;
      return { stored: false, isUnknown: true, ended: true, err: errorFields(error) };
    }
  }

  #onStored(batch: Batch, { reached, seconds, lost, journal }: Written & { stored: true }): void {
    for (const [stream, revision] of reached) {
      this.#revisions.delete(stream);
      this.#revisions.set(stream, revision);
    }
    for (const stream of this.#revisions.keys())
      if (this.#revisions.size > MOST_STREAMS) this.#revisions.delete(stream);
    this.#journal = journal;
    this.#failures = 0;
    this.#storedAt = this.#now();
    this.#lost += lost;
    this.#batches.committed += batch.hits.count - batch.hits.takenBack;
    this.#unstored -= batch.answered;
    this.appendDuration.observe(seconds);
    if (journal?.failure) this.#deps.health?.notWritten("clicks", journal.failure);
    else this.#deps.health?.written("clicks");
    for (const waiter of batch.waiters) waiter.resolve();
    batch.waiters = [];
    this.#lastNote = "";
    this.#lostHits.tell();
  }

  /** Answers whoever has waited as long as one may: where that is without a click, by 503 if durable. */
  #sweep(now = this.#now()): void {
    // If durable, the hit that is the next try waits for how that ends, as it is counted where it succeeds.
    const inTime = !this.#isDurable && this.#isStalled(now) ? Number.POSITIVE_INFINITY : now;
    for (const batch of this.#batches.all()) {
      const due = takeWaiting(batch, inTime);
      if (this.#isDurable) {
        for (const { reject } of due) reject(busy());
        batch.gone.push(...due.map(({ index }) => index));
        if (batch !== this.#batches.inFlight) this.#batches.takeBackGone(batch);
      } else
        for (const { resolve } of due) {
          this.#answer(batch);
          resolve();
        }
    }
    if (this.#batches.oldest) return;
    clearInterval(this.#sweeper);
    this.#sweeper = undefined;
  }

  /** Once, however often it is tried. */
  #note(message: string, err?: ErrorFields): void {
    if (message !== this.#lastNote) this.#deps.log.warn(err ? { err } : {}, message);
    this.#lastNote = message;
  }
}

function busy(): Refused {
  return new Refused("recorder_busy", "The click could not be stored in time");
}
