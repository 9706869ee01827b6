// The HTTP thread's side of click recording: batches hits, sends them to the recorder thread and tracks their commits.
import { Histogram } from "prom-client";
import { type ErrorFields, errorFields } from "../../runtime/error-fields.ts";
import type { LogHealth } from "../../stores/coordination/log-health.ts";
import { CommitWaiters } from "./commit-waiters.ts";
import type { RawHit } from "./hit.ts";
import { type HitPlace, HitQueue } from "./hit-queue.ts";
import type { RecorderReport, SpoolReport } from "./recorder-report.ts";
import type { StartRecorderThread } from "./recorder-thread.ts";
import { SupervisedRecorderThread } from "./supervised-recorder-thread.ts";

export type ClickRecorderDeps = {
  durability: "batched" | "durable";
  startThread: StartRecorderThread;
  /** [0,1) for jitter. */
  random: () => number;
  /** Told whether clicks can be appended to the event store. */
  health?: Pick<LogHealth, "notWritten" | "written">;
  /** `err`: the error that the thread reported, if any. */
  log: (message: string, err?: ErrorFields) => void;
  /** Uncommitted hits from which on redirects wait for room; default 200,000. */
  maxBacklog?: number;
  /** Milliseconds that a redirect waits for its commit or for room before it answers 503; default 5,000. */
  longestWaitMs?: number;
};

export type RecorderStats = {
  recorded: number;
  committed: number;
  /** Uncommitted hits. */
  backlog: number;
  /** Clicks on disk while the event store is unavailable; they count as committed. Undefined without a spool. */
  spool: Omit<SpoolReport, "type"> | undefined;
  /** Hits that could not be turned into an event; more than 0 is a bug. */
  lost: number;
  threadRestarts: number;
};

/** Redirects wait while uncommitted hits are older than this, so that a kill -9 loses at most 50 ms. */
const MAX_AGE_MS = 40;
/** The longest such wait: while the recorder commits nothing, redirects continue. */
const LONGEST_DELAY_MS = 50;
const FLUSH_AFTER_MS = 10;
const FLUSH_AT_HITS = 256;
/** Share of the stop's time. */
const GIVE_UP_AFTER = 0.9;

export class ClickRecorder {
  /** Not registered here: the metrics collector adds it to its registry. */
  readonly appendDuration = new Histogram({
    name: "linkledger_click_append_duration_seconds",
    help: "Time of one append of clicks",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [],
  });
  readonly #deps: Required<Omit<ClickRecorderDeps, "health">> & Pick<ClickRecorderDeps, "health">;
  readonly #queue = new HitQueue();
  readonly #waiters = new CommitWaiters();
  readonly #thread: SupervisedRecorderThread;
  readonly #flushAfterMs: number;
  #flushTimer: NodeJS.Timeout | undefined;
  /** A batch is due that could not be sent yet, because the thread has its maximum of unfinished batches. */
  #isDue = false;
  #spool: RecorderStats["spool"];
  /** Clicks can't be appended; with a spool they are committed all the same. */
  #isOutage = false;
  #lost = 0;
  #lastNote: string | undefined;

  constructor(deps: ClickRecorderDeps) {
    this.#deps = { maxBacklog: 200_000, longestWaitMs: 5_000, ...deps };
    // Group commit: a durable redirect waits, so its batch is sent now; hits of the meantime form the next batch.
    this.#flushAfterMs = deps.durability === "durable" ? 0 : FLUSH_AFTER_MS;
    this.#thread = new SupervisedRecorderThread({
      start: deps.startThread,
      random: deps.random,
      onReport: (report) => this.#onReport(report),
      onError: (message, error) => this.#onThreadError(message, error),
      onRestarted: () => this.#resend(),
    });
  }

  /**
   * Undefined when the hit is queued and the redirect can be answered now. A promise when the redirect has to wait:
   * for the commit (durable), or until the recorder has caught up.
   * @throws recorder_busy (through the promise) after five seconds; the hit is then not recorded. A durable hit that was
   *   already sent to the thread may be in the log, so its redirect waits without limit for the commit
   */
  record(hit: RawHit): Promise<void> | undefined {
    if (this.#mustWait(hit)) return this.#recordInTime(hit);
    this.#take(hit);
    return undefined;
  }

  /** Resolves when every hit recorded so far is committed; no time limit. */
  drain(): Promise<void> {
    this.#flush();
    return this.#queue.oldest === undefined ? Promise.resolve() : this.#waiters.upTo(this.#queue.newest);
  }

  /**
   * Drains, then ends the thread, which closes its stores. `withinMs`: after it the process ends all the same, so a
   * little earlier the log says how many clicks are lost with it.
   */
  async close(withinMs?: number): Promise<void> {
    const note = () =>
      this.#note(`Stopping: ${this.#queue.backlog} answered clicks are not stored, and will be lost`);
    const timer = withinMs === undefined ? undefined : setTimeout(note, withinMs * GIVE_UP_AFTER);
    await this.drain().finally(() => clearTimeout(timer));
    await this.#thread.stop();
  }

  stats(): RecorderStats {
    const { recorded, committed, backlog } = this.#queue;
    const threadRestarts = this.#thread.restarts;
    return { recorded, committed, backlog, spool: this.#spool, lost: this.#lost, threadRestarts };
  }

  async #recordInTime(hit: RawHit): Promise<void> {
    if (this.#isFull()) await this.#waitForRoom();
    else if (this.#deps.durability === "batched")
      await this.#oldestCommitted(LONGEST_DELAY_MS).catch(() => {});
    const place = this.#take(hit);
    if (this.#deps.durability === "durable") await this.#committedOrWithdrawn(place);
  }

  /** @throws recorder_busy */
  async #waitForRoom(): Promise<void> {
    const deadline = performance.now() + this.#deps.longestWaitMs;
    while (this.#isFull()) await this.#oldestCommitted(Math.max(0, deadline - performance.now()));
  }

  /** @throws recorder_busy */
  #oldestCommitted(withinMs: number): Promise<void> {
    return this.#waiters.within(this.#queue.oldest ?? 0, withinMs);
  }

  /** @throws recorder_busy, only after withdrawing the hit: a retry after the 503 must not be counted twice */
  async #committedOrWithdrawn(place: HitPlace): Promise<void> {
    try {
      await this.#waiters.within(place.batch, this.#deps.longestWaitMs);
    } catch (busy) {
      if (this.#queue.withdraw(place)) throw busy;
      await this.#waiters.upTo(place.batch);
    }
  }

  #mustWait(hit: RawHit): boolean {
    if (this.#deps.durability === "durable" || this.#isFull()) return true;
    return hit.at - this.#queue.oldestAt(hit.at) > MAX_AGE_MS;
  }

  #isFull(): boolean {
    return this.#queue.backlog >= this.#deps.maxBacklog;
  }

  #take(hit: RawHit): HitPlace {
    const place = this.#queue.add(hit);
    if (this.#queue.filling === FLUSH_AT_HITS) this.#flush();
    else this.#flushTimer ??= setTimeout(() => this.#flush(), this.#flushAfterMs);
    return place;
  }

  /** Sends the waiting hits to the thread now, or as soon as it accepts another batch. */
  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    this.#isDue = true;
    this.#sendDue();
  }

  #sendDue(): void {
    if (!this.#isDue || !this.#thread.isRunning) return;
    for (let batch = this.#queue.next(); batch; batch = this.#queue.next()) this.#thread.send(batch);
    this.#isDue = this.#queue.filling > 0;
  }

  /** A new thread, which knows the revisions of its streams, gets every uncommitted batch again, in order. */
  #resend(): void {
    for (const batch of this.#queue.sent()) this.#thread.send(batch);
    this.#sendDue();
  }

  #onReport(report: RecorderReport): void {
    if (report.type === "spool") this.#spool = report;
    else if (report.type === "problem") {
      this.#lost += report.lost ?? 0;
      if (report.outage) this.#isOutage = report.outage === "began";
      if (report.outage === "began") this.#deps.health?.notWritten("clicks", report.err);
      this.#note(report.message, report.err);
    } else {
      if (!this.#isOutage) this.#deps.health?.written("clicks");
      for (const seconds of report.appendSeconds) this.appendDuration.observe(seconds);
      this.#queue.commit(report.upTo);
      this.#waiters.wake(report.upTo);
      this.#sendDue();
    }
  }

  /** A thread that can't open its stores commits nothing either, and the next one knows of no outage. */
  #onThreadError(message: string, error: Error | undefined): void {
    this.#isOutage = false;
    if (error) this.#deps.health?.notWritten("clicks", error);
    this.#note(message, error && errorFields(error));
  }

  #note(message: string, err?: ErrorFields): void {
    if (message !== this.#lastNote) this.#deps.log(message, err);
    this.#lastNote = message;
  }
}
