// Keeps clicks on disk until the event store has them: what is put into it is stored, whether the server is there or away.
import { type ErrorFields, errorFields } from "../../runtime/error-fields.ts";
import { messageOf } from "../../runtime/errors.ts";
import { backoffMs } from "../../runtime/keep-trying.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { inTime, type Sleep } from "../../runtime/pause.ts";
import { isRefused } from "../../runtime/refused.ts";
import { StoreFailed, StoreUnavailable } from "../../stores/connections/errors.ts";
import { appendClicks, type ClickBatch, type ClickLog } from "./append-clicks.ts";
import type { JournaledClicks, JournalFile, JournalFiles, JournalSize } from "./journal-file.ts";

export type JournalDeps = {
  eventStore: ClickLog;
  files: JournalFiles;
  sleep: Sleep;
  /** [0,1) for jitter. */
  random: () => number;
  log: Pick<BasicLogger, "info" | "warn">;
};

/** `failure`: why the event store takes none; `isFull`: the last clicks found no room. */
export type JournalStatus = JournalSize & { isFull: boolean; failure?: ErrorFields };

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

export class ClickJournal {
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
  #lookedAt = Number.NEGATIVE_INFINITY;
  readonly #ended: Promise<void>;

  constructor(deps: JournalDeps) {
    this.#deps = deps;
    this.#ended = this.#run();
  }

  /** Fsynced when it returns. @throws journal_full, the file system's error: nothing is kept then */
  put(batches: readonly ClickBatch[]): void {
    try {
      this.#own ??= this.#deps.files.create();
      const wasEmpty = this.#own.size().clicks === 0;
      this.#own.put(batches);
      this.#mostBytes = Math.max(this.#mostBytes, this.#own.size().bytes);
      this.#isFull = false;
      const isDue = wasEmpty || this.#own.size().clicks >= MOST_AN_APPEND;
      if (isDue && !this.#failure) this.#resting.abort();
    } catch (error) {
      this.#isFull = true;
      // What is in it is appended, if it can be read; the next clicks get another file.
      if (this.#own && !isRefused(error, "journal_full")) this.#left.add(this.#own);
      if (!isRefused(error, "journal_full")) this.#own = undefined;
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
      this.#lookForLeft();
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
    for (const file of this.#files()) {
      try {
        do await this.#appendOldest(file);
        while (file.size().clicks >= MOST_AN_APPEND && !this.#stopping.signal.aborted);
        if (file.size().clicks > 0 || !this.#left.delete(file)) continue;
        file.close();
      } catch (error) {
        first ??= error;
        if (error instanceof StoreUnavailable && !(error instanceof StoreFailed)) break;
      }
    }
    return first;
  }

  async #appendOldest(file: JournalFile): Promise<void> {
    const clicks = this.#oldest(file);
    if (!clicks) return;
    await appendClicks(this.#deps.eventStore, clicks);
    if (!this.#stopping.signal.aborted) file.drop(clicks);
  }

  /**
   * Nobody waits for what is in a file that can't be read any more (append-clicks.ts). It stays open, so that its lock
   * keeps this process from finding it again.
   */
  #oldest(file: JournalFile): JournaledClicks | undefined {
    try {
      return file.oldest(MOST_AN_APPEND);
    } catch (err) {
      this.#left.delete(file);
      if (file === this.#own) this.#own = undefined;
      const { clicks } = file.size();
      this.#deps.log.warn(
        { err },
        `${clicks} clicks of the journal can't be read any more; their file stays as it is`,
      );
      return undefined;
    }
  }

  #lookForLeft(): void {
    const now = performance.now();
    if (now - this.#lookedAt < LOOK_FOR_LEFT_MS) return;
    this.#lookedAt = now;
    const warn = (message: string, err: unknown) => this.#deps.log.warn({ err }, message);
    try {
      for (const file of this.#deps.files.openLeft(warn)) this.#left.add(file);
    } catch (error) {
      warn(`The folder of the click journal can't be read: ${messageOf(error)}`, error);
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
