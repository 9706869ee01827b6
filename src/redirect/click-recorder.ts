// The HTTP thread's side of recording: batches hits, hands them to the recorder thread, loses none of them.
import { type ErrorFields, errorFields } from "../runtime/error-fields.ts";
import type { SpoolReport } from "./click-spool.ts";
import type { WriterReport } from "./click-writer.ts";
import { CommitWaiters } from "./commit-waiters.ts";
import { addHit, emptyBatch, type RawHit } from "./hit.ts";
import { Latencies, type LatencySnapshot } from "./latencies.ts";
import { SentBatches } from "./sent-batches.ts";
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
  /** Milliseconds that the oldest waiting hit may be old before redirects wait a moment; default 40. */
  maxAgeMs?: number;
};

export type RecorderStats = {
  recorded: number;
  committed: number;
  /** Hits waiting for their commit. */
  backlog: number;
  /** What waits in a file for an event store that is away: safe, counted as committed. Undefined without a spool. */
  spool: Omit<SpoolReport, "type" | "message"> | undefined;
  /** Hits that could not be made into an event; always 0 unless this program is wrong. */
  lost: number;
  threadRestarts: number;
  lastError: string | undefined;
  /** Seconds of each append, and hits in it. */
  append: LatencySnapshot;
};

/** A kill -9 loses what isn't committed: redirects slow down to the recorder's pace before that is 50 ms' worth. */
const MAX_AGE_MS = 40;
/** A recorder that doesn't commit at all, as its store is away, must not hold redirects up. */
const LONGEST_PACING_MS = 50;
const FLUSH_AFTER_MS = 10;
const FLUSH_AT_HITS = 256;
const LONGEST_WAIT_MS = 5_000;
const LONGEST_RESTART_PAUSE_MS = 5_000;

export class ClickRecorder {
  readonly #deps: ClickRecorderDeps;
  readonly #maxBacklog: number;
  readonly #maxAgeMs: number;
  readonly #revisions = new Map<string, number>();
  readonly #sent = new SentBatches();
  readonly #latencies = new Latencies();
  readonly #waiters = new CommitWaiters();
  #thread: RecorderThread;
  /** Set while no thread runs. */
  #restartTimer: NodeJS.Timeout | undefined;
  #current = emptyBatch(1, 0);
  readonly #flushAfterMs: number;
  #timer: NodeJS.Timeout | undefined;
  #recorded = 0;
  #committed = 0;
  #spool: RecorderStats["spool"];
  #lost = 0;
  #restarts = 0;
  #failuresInARow = 0;
  #lastError: string | undefined;
  #closing = false;

  constructor(deps: ClickRecorderDeps) {
    this.#deps = deps;
    this.#maxBacklog = deps.maxBacklog ?? 200_000;
    this.#maxAgeMs = deps.maxAgeMs ?? MAX_AGE_MS;
    // Somebody waits for a durable commit; the writer groups what comes while an append is under way.
    this.#flushAfterMs = deps.durability === "durable" ? 0 : FLUSH_AFTER_MS;
    this.#thread = this.#start();
  }

  /** False, and nothing is recorded, when the redirect has to wait: then `record` says for how long. */
  recordAtOnce(hit: RawHit): boolean {
    if (this.#deps.durability === "durable" || this.#isFull()) return false;
    if (hit.at - this.#sent.oldestAt(hit.at) > this.#maxAgeMs) return false;
    this.#take(hit);
    return true;
  }

  /**
   * Undefined when the hit is in line and the redirect may be answered at once. A promise when it has to wait: for
   * the commit (durable), or for room when the recorder is far behind.
   * @throws RecorderBusy (through the promise) after five seconds
   */
  record(hit: RawHit): Promise<void> | undefined {
    if (this.recordAtOnce(hit)) return undefined;
    if (this.#isFull()) return this.#recordWhenRoom(hit);
    if (this.#deps.durability === "batched") return this.#recordInPace(hit);
    this.#take(hit);
    return this.#committedWithin(this.#current.batch);
  }

  /** Resolves when every hit recorded so far is committed; waits as long as that takes. */
  drain(): Promise<void> {
    this.#flush();
    const last = this.#current.batch - 1;
    return this.#sent.isEmpty ? Promise.resolve() : this.#waiters.upTo(last);
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
      append: this.#latencies.snapshot(),
    };
  }

  #take(hit: RawHit): void {
    addHit(this.#current, hit);
    this.#recorded++;
    if (this.#current.count >= FLUSH_AT_HITS) this.#flushSoon();
    else this.#timer ??= setTimeout(() => this.#flush(), this.#flushAfterMs);
  }

  /** In a microtask, so that a durable hit still finds its batch number in `#current`. */
  #flushSoon(): void {
    if (this.#current.count === FLUSH_AT_HITS) queueMicrotask(() => this.#flush());
  }

  #flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#current;
    if (batch.count === 0) return;
    this.#current = emptyBatch(batch.batch + 1, batch.first + batch.count);
    this.#sent.add(batch);
    this.#thread.postMessage(batch);
  }

  #isFull(): boolean {
    return this.#recorded - this.#committed >= this.#maxBacklog;
  }

  async #recordWhenRoom(hit: RawHit): Promise<void> {
    const deadline = performance.now() + LONGEST_WAIT_MS;
    while (this.#isFull()) {
      const oldest = this.#sent.oldest ?? this.#current.batch;
      await this.#committedWithin(oldest, Math.max(0, deadline - performance.now()));
    }
    this.#take(hit);
    if (this.#deps.durability === "durable") await this.#committedWithin(this.#current.batch);
  }

  async #recordInPace(hit: RawHit): Promise<void> {
    const oldest = this.#sent.oldest ?? 0;
    await this.#committedWithin(oldest, LONGEST_PACING_MS).catch(() => undefined);
    this.#take(hit);
  }

  #committedWithin(batch: number, ms = LONGEST_WAIT_MS): Promise<void> {
    return this.#waiters.within(batch, ms);
  }

  #start(): RecorderThread {
    const thread = this.#deps.startThread(this.#revisions);
    thread.on("message", (report) => this.#hear(report));
    thread.on("error", (error) => this.#note(`Recorder thread: ${error.message}`, errorFields(error)));
    thread.on("exit", (code) => {
      if (!this.#closing) this.#restart(code);
    });
    return thread;
  }

  /** The new thread learns how far the streams are known to be and gets every uncommitted batch again, in order. */
  #restart(code: number): void {
    this.#restarts++;
    const pause = Math.min(50 * 2 ** this.#failuresInARow++, LONGEST_RESTART_PAUSE_MS);
    this.#note(`Recorder thread ended with code ${code}; starting another`);
    this.#restartTimer = setTimeout(
      () => {
        this.#restartTimer = undefined;
        this.#thread = this.#start();
        for (const batch of this.#sent.all()) this.#thread.postMessage(batch);
      },
      pause * (0.5 + this.#deps.random() / 2),
    );
  }

  #hear(report: WriterReport | SpoolReport): void {
    if (report.type === "spool") {
      const { clicks, bytes, full, message, err } = report;
      this.#spool = { clicks, bytes, full };
      if (message !== undefined) this.#note(message, err);
      return;
    }
    if (report.type === "trouble") {
      this.#lost += report.lost ?? 0;
      this.#note(report.message, report.err);
      return;
    }
    this.#failuresInARow = 0;
    for (const { hits, seconds } of report.appends) this.#latencies.add(seconds, hits);
    for (const [stream, revision] of report.reached) this.#reach(stream, revision);
    this.#committed += this.#sent.commit(report.upTo);
    this.#waiters.wake(report.upTo);
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
