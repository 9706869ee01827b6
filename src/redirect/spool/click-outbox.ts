// Queues clicks for the event store: in memory, and in the spool on disk while the store is slow or unavailable.
import { errorFields } from "../../runtime/error-fields.ts";
import { messageOf } from "../../runtime/errors.ts";
import { inTime } from "../../runtime/pause.ts";
import type { RecorderReport } from "../clicks/recorder-report.ts";
import type { ClickBatch } from "./append-once.ts";
import type { ClickSpool, ClickSpools } from "./click-spool.ts";
import { type DrainDeps, drainClicks, MAX_CLICKS_AN_APPEND, type PendingClicks } from "./drain-clicks.ts";
import { OrphanedSpools } from "./orphaned-spools.ts";

export type ClickOutboxDeps = DrainDeps & {
  /** Undefined where the event store is on the same disk: clicks then wait in memory only. */
  spools: ClickSpools | undefined;
  report: (report: RecorderReport) => void;
};

/** `spooled`: its number in the spool. `onDurable`: called once, when the batch is in the store or fsynced. */
type Entry = ClickBatch & { spooled?: number; onDurable: () => void };

/** Plus the 10 ms in which the HTTP thread batches hits: below the 50 ms of clicks that a crash may lose. */
const SPOOL_AFTER_MS = 25;
/** How long `close` continues to drain the spool while the store accepts appends. */
const LAST_DRAIN_MS = 4_000;
const LAST_ANSWER_MS = 500;

/** Clicks that stay in memory although they are spooled, so that their append needs not read them from disk. */
const MAX_KEPT_CLICKS = 10_000;

/**
 * Order: one append is in flight at a time, and older batches go first. Durability: a batch stays in memory until it is
 * in the store or fsynced in the spool, which takes it when it is not in the store in time: then its outcome is unknown.
 */
export class ClickOutbox {
  readonly #deps: ClickOutboxDeps;
  /** Undefined without spools, and while it can't be opened, as on a full disk: clicks then wait in memory. */
  #spool: ClickSpool | undefined;
  readonly #orphans: OrphanedSpools | undefined;
  readonly #closing = new AbortController();
  /** Batches that are not in the store, oldest first; those that are spooled come before those that are not. */
  #entries: Entry[] = [];
  /** Older batches than the entries are in the spool only. */
  #hasOlder = false;
  #draining: Promise<void> | undefined;
  /** The last append failed: new batches are spooled without waiting for the next. */
  #lastFailed = false;
  /** An append failed, and the spool has not been empty since. */
  #isFailing = false;
  #isFull = false;

  constructor(deps: ClickOutboxDeps) {
    this.#deps = deps;
    try {
      this.#spool = deps.spools?.openOwn();
    } catch (error) {
      this.#note(`The click spool can't be opened: ${messageOf(error)}`, error);
    }
    const { signal } = this.#closing;
    if (deps.spools) this.#orphans = new OrphanedSpools({ ...deps, spools: deps.spools }, signal, this.#note);
  }

  /** Call in the order of the revisions. Resolves when the clicks are in the store or fsynced in the spool. */
  put(batch: ClickBatch): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const settled = new AbortController();
    const onDurable = () => {
      settled.abort();
      resolve();
    };
    this.#entries.push({ ...batch, onDurable });
    if (this.#lastFailed) this.#spoolAll();
    else if (this.#deps.spools) void this.#spoolLater(settled.signal);
    this.#draining ??= this.#drain();
    return promise;
  }

  /** Drains the spool if the store accepts it within four seconds; remaining clicks wait for the next recorder. */
  async close(): Promise<void> {
    const { sleep } = this.#deps;
    if (this.#draining && !this.#isFailing) await inTime(LAST_DRAIN_MS, this.#draining, sleep);
    this.#closing.abort();
    // If an append is still unanswered, the next process that opens the spool resolves its outcome (append-once.ts).
    const settled = Promise.all([this.#draining, this.#orphans?.ended]);
    await inTime(LAST_ANSWER_MS, settled, sleep);
    this.#orphans?.close();
    this.#spool?.close();
  }

  #drain(): Promise<void> {
    const onFailure = (error: unknown) => this.#onFailure(error);
    return drainClicks(this.#deps, () => this.#next(), onFailure, this.#closing.signal);
  }

  #next(): PendingClicks | undefined {
    const spooled = this.#hasOlder ? this.#spool?.oldest(MAX_CLICKS_AN_APPEND) : undefined;
    if (spooled) return { ...spooled, onStored: () => this.#onStored(spooled.upTo, []) };
    this.#hasOlder = false;
    const [first] = this.#entries;
    if (!first) {
      // Synchronously with the empty answer, so that the next `put` starts another drain.
      this.#draining = undefined;
      return undefined;
    }
    const inFlight: Entry[] = [];
    let clicks = 0;
    for (const entry of this.#entries) {
      const follows = entry.stream === first.stream && entry.after === first.after + clicks;
      const count = entry.events.length;
      if (clicks > 0 && (!follows || clicks + count > MAX_CLICKS_AN_APPEND)) break;
      inFlight.push(entry);
      clicks += count;
    }
    const { stream, after } = first;
    const events = inFlight.flatMap((entry) => entry.events);
    const onStored = () => {
      const last = inFlight.findLast((entry) => entry.spooled !== undefined);
      this.#onStored(last?.spooled ?? 0, inFlight);
    };
    return { stream, after, events, onStored };
  }

  /** The spool up to this number, and these batches, are in the store. */
  #onStored(upTo: number, stored: readonly Entry[]): void {
    this.#lastFailed = false;
    const isStored = (entry: Entry) => (entry.spooled ?? Infinity) <= upTo || stored.includes(entry);
    this.#entries = this.#entries.filter((entry) => !isStored(entry));
    for (const entry of stored) if (entry.spooled === undefined) entry.onDurable();
    if (upTo > 0) this.#spool?.drop(upTo);
    if (this.#entries.every((entry) => entry.spooled !== undefined)) this.#isFull = false;
    this.#reportSpool();
    if (!this.#isFailing || (this.#spool?.size().clicks ?? 0) > 0) return;
    this.#isFailing = false;
    const message = `The event store ${this.#spool ? "has all clicks of the spool" : "takes clicks again"}`;
    this.#deps.report({ type: "problem", message, outage: "ended" });
  }

  #onFailure(error: unknown): void {
    this.#lastFailed = true;
    this.#spoolAll();
    if (this.#isFailing) return;
    this.#isFailing = true;
    const message = `Clicks wait ${this.#spool ? "in the spool" : "in memory"}: ${messageOf(error)}`;
    this.#deps.report({ type: "problem", message, err: errorFields(error), outage: "began" });
  }

  /** Spools the batches in memory after a delay, unless `settled` aborts first because they are stored. */
  async #spoolLater(settled: AbortSignal): Promise<void> {
    await this.#deps.sleep(SPOOL_AFTER_MS, settled);
    if (!settled.aborted && !this.#closing.signal.aborted) this.#spoolAll();
  }

  /** Batches that do not fit in the spool stay in memory; they are newer than those that did. */
  #spoolAll(): void {
    const waiting = this.#entries.filter((entry) => entry.spooled === undefined);
    if (!this.#deps.spools || waiting.length === 0) return;
    try {
      this.#spool ??= this.#deps.spools.openOwn();
      const { numbers, full } = this.#spool.put(waiting);
      for (const [index, number] of numbers.entries()) {
        const entry = waiting[index] as Entry;
        entry.spooled = number;
        entry.onDurable();
      }
      this.#isFull = full !== undefined;
      if (full) this.#note(full.message, full);
    } catch (error) {
      this.#isFull = true;
      this.#note(`The click spool can't be written: ${messageOf(error)}`, error);
    }
    this.#forgetSpooled();
    this.#reportSpool();
  }

  #forgetSpooled(): void {
    const isSpooled = (entry: Entry) => entry.spooled !== undefined;
    const kept = this.#entries.filter(isSpooled).reduce((sum, { events }) => sum + events.length, 0);
    if (kept <= MAX_KEPT_CLICKS) return;
    this.#entries = this.#entries.filter((entry) => !isSpooled(entry));
    this.#hasOlder = true;
  }

  #reportSpool(): void {
    if (!this.#deps.spools) return;
    const own = this.#spool?.size() ?? { clicks: 0, bytes: 0 };
    const orphaned = this.#orphans?.size() ?? { clicks: 0, bytes: 0 };
    const [clicks, bytes] = [own.clicks + orphaned.clicks, own.bytes + orphaned.bytes];
    this.#deps.report({ type: "spool", clicks, bytes, full: this.#isFull });
  }

  /** Without a message it reports the spool's size only. */
  readonly #note = (message?: string, error?: unknown): void => {
    const err = error === undefined ? {} : { err: errorFields(error) };
    if (message !== undefined) this.#deps.report({ type: "problem", message, ...err });
    this.#reportSpool();
  };
}
