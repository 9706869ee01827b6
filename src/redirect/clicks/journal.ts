// Keeps clicks on disk until the event store has them: what is put into it is stored, whether the server is there or away.

import { isRefused } from "../../commands/refusals.ts";
import { type ErrorFields, errorFields } from "../../runtime/error-fields.ts";
import { messageOf } from "../../runtime/errors.ts";
import { backoffMs } from "../../runtime/keep-trying.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { inTime, type Sleep } from "../../runtime/pause.ts";
import { StoreFailed, StoreUnavailable } from "../../stores/connections/errors.ts";
import {
  appendClicks,
  type ClickBatch,
  type ClickLog,
  type Journal,
  type JournalStatus,
} from "./append-clicks.ts";
import type { JournaledClicks, JournalFile, JournalFiles } from "./journal-file.ts";

export type JournalDeps = {
  eventStore: ClickLog;
  files: JournalFiles;
  /** Of the log that is appended to. @throws what the store throws */
  logId: () => Promise<string>;
  /** Of the one that the clicks are for, also while the store is unavailable. @throws what the stores throw */
  notedLogId: () => Promise<string>;
  sleep: Sleep;
  /** [0,1) for jitter. */
  random: () => number;
  log: Pick<BasicLogger, "info" | "warn">;
};

/** An append costs the official client 1.1 ms of CPU whatever it holds: so few, and as much in each as servers take. */
const APPEND_EVERY_MS = 100;
const MOST_AN_APPEND = 500;
/** A process that shares the folder may end at any time. */
const LOOK_FOR_LEFT_MS = 5_000;
const SHRINK_ABOVE_BYTES = 32 * 1024 * 1024;
const RETRY = { fromMs: 50, toMs: 1_000 };
/** How long `close` goes on appending while the store takes clicks, and then waits for its last answer. */
const LAST_APPENDS_MS = 4_000;
const LAST_ANSWER_MS = 500;

export class ClickJournal implements Journal {
  readonly #deps: JournalDeps;
  /** Undefined until the first put, and after one that failed. */
  #own: JournalFile | undefined;
  /** Of ended threads and processes, and own ones that could not be written any more. */
  readonly #left = new Set<JournalFile>();
  readonly #stopping = new AbortController();
  /** Aborted to end the rest between two rounds. */
  #resting = new AbortController();
  #isClosing = false;
  #isFull = false;
  #mostBytes = 0;
  #failure: ErrorFields | undefined;
  #logId: string | undefined;
  /** What was appended last, or is in a file of another thread: whether that is in the log is not known. */
  readonly #uncertain = new WeakSet<JournalFile>();
  /** Streams whose clicks go elsewhere than they were meant to, as those before them are missing, and how much further. */
  readonly #shifts = new Map<string, number>();
  #lookedAt = Number.NEGATIVE_INFINITY;
  readonly #ended: Promise<void>;

  constructor(deps: JournalDeps) {
    this.#deps = deps;
    this.#ended = this.#run();
  }

  put(batches: readonly ClickBatch[]): void {
    try {
      this.#own ??= this.#deps.files.create();
      const wasEmpty = this.#own.size().clicks === 0;
      this.#own.put(batches, this.#logId);
      this.#mostBytes = Math.max(this.#mostBytes, this.#own.size().bytes);
      this.#isFull = false;
      const isDue = wasEmpty || this.#own.size().clicks >= MOST_AN_APPEND;
      if (isDue && !this.#failure) this.#resting.abort();
    } catch (error) {
      this.#isFull = true;
      if (isRefused(error, "journal_full")) throw error;
      // What is in it is appended, if it can be read; the next clicks get another file.
      if (this.#own) this.#left.add(this.#own);
      this.#own = undefined;
      throw error;
    }
  }

  status(): JournalStatus {
    const sizes = this.#files().map((file) => file.size());
    const clicks = sizes.reduce((sum, size) => sum + size.clicks, 0);
    const bytes = sizes.reduce((sum, size) => sum + size.bytes, 0);
    return { clicks, bytes, isFull: this.#isFull, ...(this.#failure && { failure: this.#failure }) };
  }

  /** Appends the last clicks if the store takes them within four seconds; others wait on disk for the next process. */
  async close(): Promise<void> {
    const { sleep } = this.#deps;
    this.#isClosing = true;
    this.#resting.abort();
    if (!this.#failure) await inTime(LAST_APPENDS_MS, this.#ended, sleep);
    this.#stopping.abort();
    this.#resting.abort();
    // If an append is still unanswered, the next process finds out what became of it (append-clicks.ts).
    await inTime(LAST_ANSWER_MS, this.#ended, sleep);
    for (const file of this.#files()) file.close();
  }

  /** The oldest first. */
  #files(): JournalFile[] {
    return this.#own ? [...this.#left, this.#own] : [...this.#left];
  }

  /** The one loop that appends. Never rejects. */
  async #run(): Promise<void> {
    let failures = 0;
    // Later than the constructor, whose fields it uses.
    await Promise.resolve();
    while (!this.#stopping.signal.aborted) {
      const error = await this.#appendDue();
      failures = error === undefined ? 0 : failures + 1;
      this.#note(error);
      const isEmpty = this.status().clicks === 0;
      if (isEmpty && this.#isClosing) return;
      if (isEmpty && this.#mostBytes > SHRINK_ABOVE_BYTES) this.#beginAnew();
      if (failures > 0) await this.#rest(backoffMs(failures, RETRY, this.#deps.random));
      else if (!isEmpty) await this.#rest(APPEND_EVERY_MS);
      else if (await this.#rest(LOOK_FOR_LEFT_MS)) await this.#rest(APPEND_EVERY_MS);
    }
  }

  /** SQLite keeps the space of deleted rows. */
  #beginAnew(): void {
    this.#own?.close();
    this.#own = undefined;
    this.#mostBytes = 0;
  }

  /** True where it was ended before its time, by clicks that came. */
  async #rest(ms: number): Promise<boolean> {
    if (this.#isClosing && !this.#failure) return true;
    this.#resting = new AbortController();
    const { signal } = this.#resting;
    await this.#deps.sleep(ms, signal);
    return signal.aborted;
  }

  /**
   * What is waiting in each file. Returns the first error: one file that the store refuses holds up no other, and while it
   * is away it is asked once.
   */
  async #appendDue(): Promise<unknown> {
    let first: unknown;
    try {
      this.#logId ??= await this.#deps.notedLogId();
      this.#lookForLeft(this.#logId);
      const logId = await this.#deps.logId();
      if (logId !== this.#logId)
        throw new StoreFailed(`The clicks are for the log ${this.#logId}, and this is ${logId}`);
    } catch (error) {
      return error;
    }
    for (const file of this.#files()) {
      try {
        while (await this.#appendOldest(file))
          if (file.size().clicks < MOST_AN_APPEND || this.#stopping.signal.aborted) break;
        if (file.size().clicks > 0 || !this.#left.delete(file)) continue;
        file.close();
      } catch (error) {
        first ??= error;
        if (error instanceof StoreUnavailable && !(error instanceof StoreFailed)) break;
      }
    }
    return first;
  }

  /** False where there are none. */
  async #appendOldest(file: JournalFile): Promise<boolean> {
    const clicks = this.#oldest(file);
    if (!clicks) return false;
    const { stream, after, events } = clicks;
    const isRepeated = this.#uncertain.has(file);
    this.#uncertain.add(file);
    const batch = { stream, after: after + (this.#shifts.get(stream) ?? 0), events };
    const { revision, isThere } = await appendClicks(this.#deps.eventStore, batch, { isRepeated });
    this.#uncertain.delete(file);
    const shift = isThere ? batch.after - after : revision - after - events.length;
    if (shift === 0) this.#shifts.delete(stream);
    else this.#shifts.set(stream, shift);
    if (!this.#stopping.signal.aborted) file.drop(clicks);
    return true;
  }

  /** Of one that is damaged, what can be read is in another file from now on (append-clicks.ts). */
  #oldest(file: JournalFile): JournaledClicks | undefined {
    try {
      return file.oldest(MOST_AN_APPEND);
    } catch (error) {
      const replacing = this.#deps.files.replaceDamaged(file, error, this.#say);
      this.#left.add(replacing);
      this.#uncertain.add(replacing);
      this.#left.delete(file);
      if (file === this.#own) this.#own = undefined;
      return undefined;
    }
  }

  readonly #say = (message: string, err?: unknown) => this.#deps.log.warn({ err }, message);

  #lookForLeft(logId: string): void {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_FOR_LEFT_MS) return;
    this.#lookedAt = now;
    try {
      for (const file of this.#deps.files.openLeft(logId, this.#say)) {
        this.#left.add(file);
        this.#uncertain.add(file);
      }
    } catch (error) {
      this.#say(`The folder of the click journal can't be read: ${messageOf(error)}`, error);
    }
  }

  /** One line when an outage begins, and one when the journal is empty again. */
  #note(error: unknown): void {
    const { log } = this.#deps;
    if (error !== undefined) {
      if (!this.#failure) log.warn({ err: error }, `Clicks wait in the journal: ${messageOf(error)}`);
      this.#failure = errorFields(error);
    } else if (this.#failure && this.status().clicks < MOST_AN_APPEND) {
      log.info("The event store has all clicks of the journal");
      this.#failure = undefined;
    }
  }
}
