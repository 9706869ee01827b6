// Clicks between the recorder and the event store: an ordered list in memory, persisted in the spool while the store is slow.

import { errorFields } from "../../runtime/error-fields.ts";
import { messageOf } from "../../runtime/errors.ts";
import type { RecorderReport } from "../clicks/recorder-report.ts";
import type { ClickBatch } from "./append-once.ts";
import type { ClickSpool, ClickSpools } from "./click-spool.ts";
import { type DrainDeps, drainClicks, MAX_CLICKS_AN_APPEND, type Pending } from "./drain-clicks.ts";
import { OrphanedSpools } from "./orphaned-spools.ts";

export type ClickOutboxDeps = DrainDeps & {
  /** Undefined where the event store is on the same disk: clicks wait in memory then. */
  spools: ClickSpools | undefined;
  report: (report: RecorderReport) => void;
  /** Milliseconds that clicks may be in memory alone before they go to the spool too; default 20. */
  patienceMs?: number;
};

/** `spooled`: its number in the spool. `safe`: called once, when a crash can't lose it any more. */
type Entry = ClickBatch & { spooled?: number; safe: () => void };

/** With the 10 ms in which the HTTP thread collects hits, below the 50 ms that a crash may cost (DESIGN §5). */
const PATIENCE_MS = 20;
/** How long `close` goes on emptying the spool into a store that takes it. */
const LAST_DRAIN_MS = 4_000;
const LAST_ANSWER_MS = 500;

/**
 * What the spool holds comes before all that is in memory only, and one append is in flight at a time, so order is
 * kept. A batch is in memory until it is in the store or, fsynced, in the spool: there is no moment in which it is in
 * none of them.
 */
export class ClickOutbox {
  readonly #deps: ClickOutboxDeps;
  readonly #spool: ClickSpool | undefined;
  readonly #orphans: OrphanedSpools | undefined;
  readonly #closing = new AbortController();
  /** What is in memory only. */
  readonly #entries: Entry[] = [];
  /** What the append in flight takes from memory; it may have been spooled meanwhile. */
  #inFlight: Entry[] = [];
  #draining: Promise<void> | undefined;
  /** The last append failed, or is late: what comes now goes to the spool without waiting for it. */
  #isSlow = false;
  /** The last append failed. */
  #isFailing = false;
  #isFull = false;

  constructor(deps: ClickOutboxDeps) {
    this.#deps = deps;
    this.#spool = deps.spools?.openOwn();
    const { signal } = this.#closing;
    if (deps.spools) this.#orphans = new OrphanedSpools({ ...deps, spools: deps.spools }, signal, this.#note);
  }

  /** In the order of their revisions. Resolves when the clicks are in the store or, fsynced, in the spool. */
  put(batch: ClickBatch): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const settled = new AbortController();
    const safe = () => {
      settled.abort();
      resolve();
    };
    this.#entries.push({ ...batch, safe });
    if (this.#spool && !this.#isSlow) void this.#spoolLater(settled.signal);
    if (this.#isSlow) this.#spoolAll();
    this.#draining ??= this.#drain();
    return promise;
  }

  /** Empties the spool if the store takes it within four seconds; the rest waits for the next recorder. */
  async close(): Promise<void> {
    if (this.#draining && !this.#isFailing) {
      const enough = new AbortController();
      await Promise.race([this.#draining, this.#deps.sleep(LAST_DRAIN_MS, enough.signal)]);
      enough.abort();
    }
    this.#closing.abort();
    // What an unanswered append becomes is found out by whoever opens the spool next.
    const settled = Promise.all([this.#draining, this.#orphans?.ended]);
    await Promise.race([settled, this.#deps.sleep(LAST_ANSWER_MS)]);
    this.#orphans?.close();
    this.#spool?.close();
  }

  #drain(): Promise<void> {
    const onFailure = (error: unknown) => this.#onFailure(error);
    return drainClicks(this.#deps, () => this.#next(), onFailure, this.#closing.signal);
  }

  #next(): Pending | undefined {
    this.#inFlight = [];
    const spooled = this.#spool?.oldest(MAX_CLICKS_AN_APPEND);
    if (spooled) return { ...spooled, stored: () => this.#onStored(() => this.#spool?.drop(spooled.upTo)) };
    const [first] = this.#entries;
    if (!first) {
      // In the same turn, so that what is put from here on starts another drain.
      this.#draining = undefined;
      return undefined;
    }
    let clicks = 0;
    for (const entry of this.#entries) {
      const follows = entry.stream === first.stream && entry.after === first.after + clicks;
      if (clicks > 0 && (!follows || clicks + entry.events.length > MAX_CLICKS_AN_APPEND)) break;
      this.#inFlight.push(entry);
      clicks += entry.events.length;
    }
    const { stream, after } = first;
    const events = this.#inFlight.flatMap((entry) => entry.events);
    return { stream, after, events, stored: () => this.#onStored(() => this.#forgetInFlight()) };
  }

  #forgetInFlight(): void {
    const spooled = this.#inFlight.findLast((entry) => entry.spooled !== undefined);
    const inMemory = this.#inFlight.filter((entry) => entry.spooled === undefined);
    this.#inFlight = [];
    this.#entries.splice(0, inMemory.length);
    for (const entry of inMemory) entry.safe();
    if (spooled) this.#spool?.drop(spooled.spooled ?? 0);
  }

  #onStored(forget: () => void): void {
    this.#isSlow = false;
    forget();
    if (this.#entries.length === 0) this.#isFull = false;
    if (!this.#spool) {
      this.#isFailing = false;
      return;
    }
    this.#reportSpool();
    if (!this.#isFailing || this.#spool.size().clicks > 0) return;
    this.#isFailing = false;
    this.#note("The event store has all clicks of the spool");
  }

  #onFailure(error: unknown): void {
    this.#isSlow = true;
    this.#spoolAll();
    if (this.#isFailing) return;
    this.#isFailing = true;
    this.#note(`Clicks wait ${this.#spool ? "in the spool" : "in memory"}: ${messageOf(error)}`, error);
  }

  /** Unless they are in the store before. */
  async #spoolLater(settled: AbortSignal): Promise<void> {
    await this.#deps.sleep(this.#deps.patienceMs ?? PATIENCE_MS, settled);
    if (settled.aborted || this.#closing.signal.aborted) return;
    this.#isSlow = true;
    this.#spoolAll();
  }

  /** What has no room stays in memory, behind what has. */
  #spoolAll(): void {
    if (!this.#spool || this.#entries.length === 0) return;
    try {
      const { numbers, full } = this.#spool.put(this.#entries);
      for (const [index, entry] of this.#entries.splice(0, numbers.length).entries()) {
        entry.spooled = numbers[index] ?? 0;
        entry.safe();
      }
      this.#isFull = full !== undefined;
      if (full) this.#note(full.message, full);
    } catch (error) {
      this.#note(messageOf(error), error);
    }
    this.#reportSpool();
  }

  #reportSpool(): void {
    if (!this.#spool) return;
    const own = this.#spool.size();
    const orphaned = this.#orphans?.size() ?? { clicks: 0, bytes: 0 };
    const [clicks, bytes] = [own.clicks + orphaned.clicks, own.bytes + orphaned.bytes];
    this.#deps.report({ type: "spool", clicks, bytes, full: this.#isFull });
  }

  /** Without a message only the sizes have changed. */
  readonly #note = (message?: string, error?: unknown): void => {
    const err = error === undefined ? {} : { err: errorFields(error) };
    if (message !== undefined) this.#deps.report({ type: "trouble", message, ...err });
    this.#reportSpool();
  };
}
