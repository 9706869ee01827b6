// The HTTP thread's side of recording: batches hits, hands them to the recorder thread, loses none of them.
import { Histogram } from "prom-client";
import { backoffMs } from "../../runtime/backoff.ts";
import { type ErrorFields, errorFields } from "../../runtime/error-fields.ts";
import { CommitWaiters } from "./commit-waiters.ts";
import type { RawHit } from "./hit.ts";
import { type HitPlace, HitQueue } from "./hit-queue.ts";
import type { RecorderReport, SpoolReport } from "./recorder-report.ts";
import type { RecorderThread, StartRecorderThread } from "./start-recorder-thread.ts";

export type ClickRecorderDeps = {
  durability: "batched" | "durable";
  startThread: StartRecorderThread;
  /** [0,1) for jitter. */
  random: () => number;
  /** `err`: what went wrong in the thread, if anything did. */
  log: (message: string, err?: ErrorFields) => void;
  /** Most hits waiting for their commit before redirects wait too; default 200,000. */
  maxBacklog?: number;
  /** Milliseconds that a redirect waits for its commit, or for room, before it is refused; default 5,000. */
  longestWaitMs?: number;
};

export type RecorderStats = {
  recorded: number;
  committed: number;
  /** Hits waiting for their commit. */
  backlog: number;
  /** What waits in a file for an event store that is away: safe, counted as committed. Undefined without a spool. */
  spool: Omit<SpoolReport, "type"> | undefined;
  /** Hits that could not be made into an event; always 0 unless this program is wrong. */
  lost: number;
  threadRestarts: number;
  lastError: string | undefined;
};

/** A kill -9 loses what isn't committed: redirects wait a moment before that is 50 ms' worth (DESIGN §5). */
const MAX_AGE_MS = 40;
/** A recorder that doesn't commit at all, as its store is unavailable, must not hold redirects up. */
const LONGEST_DELAY_MS = 50;
const FLUSH_AFTER_MS = 10;
const FLUSH_AT_HITS = 256;
const LONGEST_WAIT_MS = 5_000;
const RESTART = { fromMs: 50, toMs: 5_000 };

export class ClickRecorder {
  /** In no registry yet. */
  readonly appendDuration = new Histogram({
    name: "linkledger_click_append_duration_seconds",
    help: "Time of one append of clicks",
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5],
    registers: [],
  });
  readonly #deps: ClickRecorderDeps;
  readonly #maxBacklog: number;
  readonly #longestWaitMs: number;
  readonly #revisions = new Map<string, number>();
  readonly #queue = new HitQueue();
  readonly #waiters = new CommitWaiters();
  #failuresInARow = 0;
  #thread: RecorderThread;
  /** Set while no thread runs. */
  #restartTimer: NodeJS.Timeout | undefined;
  readonly #flushAfterMs: number;
  #flushTimer: NodeJS.Timeout | undefined;
  /** The thread had enough when a batch was due for it. */
  #isDue = false;
  #recorded = 0;
  #committed = 0;
  #spool: RecorderStats["spool"];
  #lost = 0;
  #restarts = 0;
  #lastError: string | undefined;
  #closing = false;

  constructor(deps: ClickRecorderDeps) {
    this.#deps = deps;
    this.#maxBacklog = deps.maxBacklog ?? 200_000;
    this.#longestWaitMs = deps.longestWaitMs ?? LONGEST_WAIT_MS;
    // Somebody waits for a durable commit; what comes while the thread is busy goes together into the next batch.
    this.#flushAfterMs = deps.durability === "durable" ? 0 : FLUSH_AFTER_MS;
    this.#thread = this.#start();
  }

  /**
   * Undefined when the hit is in line and the redirect may be answered at once. A promise when it has to wait: for
   * the commit (durable), or while the recorder is behind.
   * @throws RecorderBusy (through the promise) after five seconds, and the hit is not recorded then. A durable hit that
   *   the recorder thread has by then may be in the log already: it waits on, for as long as its commit takes
   */
  record(hit: RawHit): Promise<void> | undefined {
    if (this.#mustWait(hit)) return this.#recordInTime(hit);
    this.#take(hit);
    return undefined;
  }

  /** Resolves when every hit recorded so far is committed; waits as long as that takes. */
  drain(): Promise<void> {
    this.#flush();
    return this.#queue.oldest === undefined ? Promise.resolve() : this.#waiters.upTo(this.#queue.newest);
  }

  /** Drains, then ends the thread and its stores. */
  async close(): Promise<void> {
    await this.drain();
    this.#closing = true;
    if (this.#restartTimer !== undefined) return clearTimeout(this.#restartTimer);
    const ended = new Promise<void>((resolve) => this.#thread.on("exit", () => resolve()));
    this.#thread.postMessage("stop");
    await ended;
  }

  stats(): RecorderStats {
    return {
      recorded: this.#recorded,
      committed: this.#committed,
      backlog: this.#recorded - this.#committed,
      spool: this.#spool,
      lost: this.#lost,
      threadRestarts: this.#restarts,
      lastError: this.#lastError,
    };
  }

  async #recordInTime(hit: RawHit): Promise<void> {
    if (this.#isFull()) await this.#waitForRoom();
    else if (this.#deps.durability === "batched")
      await this.#oldestCommitted(LONGEST_DELAY_MS).catch(() => {});
    const place = this.#take(hit);
    if (this.#deps.durability === "durable") await this.#committedOrWithdrawn(place);
  }

  /** @throws RecorderBusy */
  async #waitForRoom(): Promise<void> {
    const deadline = performance.now() + this.#longestWaitMs;
    while (this.#isFull()) await this.#oldestCommitted(Math.max(0, deadline - performance.now()));
  }

  /** @throws RecorderBusy */
  #oldestCommitted(withinMs: number): Promise<void> {
    return this.#waiters.within(this.#queue.oldest ?? 0, withinMs);
  }

  /** @throws RecorderBusy: what is answered with 503 must not be in the log, as who asks again would be counted twice */
  async #committedOrWithdrawn(place: HitPlace): Promise<void> {
    try {
      await this.#waiters.within(place.batch, this.#longestWaitMs);
    } catch (busy) {
      if (this.#queue.withdraw(place)) {
        this.#recorded--;
        throw busy;
      }
      await this.#waiters.upTo(place.batch);
    }
  }

  #mustWait(hit: RawHit): boolean {
    if (this.#deps.durability === "durable" || this.#isFull()) return true;
    return hit.at - this.#queue.oldestAt(hit.at) > MAX_AGE_MS;
  }

  #isFull(): boolean {
    return this.#recorded - this.#committed >= this.#maxBacklog;
  }

  #take(hit: RawHit): HitPlace {
    const place = this.#queue.add(hit);
    this.#recorded++;
    if (this.#queue.filling === FLUSH_AT_HITS) this.#flush();
    else this.#flushTimer ??= setTimeout(() => this.#flush(), this.#flushAfterMs);
    return place;
  }

  /** What waits goes to the thread now, or as soon as it has room. */
  #flush(): void {
    clearTimeout(this.#flushTimer);
    this.#flushTimer = undefined;
    this.#isDue = true;
    this.#sendDue();
  }

  #sendDue(): void {
    if (!this.#isDue || this.#restartTimer !== undefined) return;
    for (let batch = this.#queue.next(); batch; batch = this.#queue.next()) this.#thread.postMessage(batch);
    this.#isDue = this.#queue.filling > 0;
  }

  #start(): RecorderThread {
    const thread = this.#deps.startThread(this.#revisions);
    thread.on("message", (report) => this.#onReport(report));
    thread.on("error", (error) => this.#note(`Recorder thread: ${error.message}`, errorFields(error)));
    thread.on("exit", (code) => {
      if (!this.#closing) this.#restart(code);
    });
    return thread;
  }

  /** The new thread learns how far the streams are known to be and gets every uncommitted batch again, in order. */
  #restart(code: number): void {
    this.#restarts++;
    this.#note(`Recorder thread ended with code ${code}; starting another`);
    const restart = () => {
      this.#restartTimer = undefined;
      this.#thread = this.#start();
      for (const batch of this.#queue.sent()) this.#thread.postMessage(batch);
      this.#sendDue();
    };
    this.#failuresInARow++;
    this.#restartTimer = setTimeout(restart, backoffMs(this.#failuresInARow, RESTART, this.#deps.random));
  }

  #onReport(report: RecorderReport): void {
    if (report.type === "spool") {
      const { clicks, bytes, full } = report;
      this.#spool = { clicks, bytes, full };
      return;
    }
    if (report.type === "trouble") {
      this.#lost += report.lost ?? 0;
      this.#note(report.message, report.err);
      return;
    }
    this.#failuresInARow = 0;
    for (const seconds of report.appendSeconds) this.appendDuration.observe(seconds);
    for (const [stream, revision] of report.reached) this.#reach(stream, revision);
    this.#committed += this.#queue.commit(report.upTo);
    this.#waiters.wake(report.upTo);
    this.#sendDue();
  }

  /** Yesterday's stream may still get a late hit; older ones are done. */
  #reach(stream: string, revision: number): void {
    this.#revisions.delete(stream);
    this.#revisions.set(stream, revision);
    if (this.#revisions.size > 3) this.#revisions.delete(this.#revisions.keys().next().value ?? "");
  }

  #note(message: string, err?: ErrorFields): void {
    if (message !== this.#lastError) this.#deps.log(message, err);
    this.#lastError = message;
  }
}
