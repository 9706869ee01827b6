// Clicks that dead threads and processes of this data folder have left behind are brought into the event store.
import type { ClickSpool, ClickSpools, SpoolSize } from "./click-spool.ts";
import { type DrainStore, drainOldest } from "./spool-drain.ts";

export type LeftSpoolsDeps = {
  eventStore: DrainStore;
  spools: Pick<ClickSpools, "openLeft">;
  /** Ends early when the signal aborts. */
  pause: (ms: number) => Promise<void>;
  /** Told whenever the size has changed, and of trouble. */
  report: (message?: string, error?: unknown) => void;
};

const LOOK_EVERY_MS = 5_000;

/** Looks at once and every few seconds: a process that shares the folder may die at any time. */
export class LeftSpools {
  readonly #deps: LeftSpoolsDeps;
  readonly #signal: AbortSignal;
  readonly #spools = new Set<ClickSpool>();
  /** Resolves soon after the signal's abort. */
  readonly ended: Promise<void>;

  constructor(deps: LeftSpoolsDeps, signal: AbortSignal) {
    this.#deps = deps;
    this.#signal = signal;
    this.ended = this.#look();
  }

  size(): SpoolSize {
    const size = { clicks: 0, bytes: 0 };
    for (const spool of this.#spools) {
      size.clicks += spool.size().clicks;
      size.bytes += spool.size().bytes;
    }
    return size;
  }

  /** What is not drained is left again. */
  close(): void {
    for (const spool of this.#spools) spool.close();
  }

  async #look(): Promise<void> {
    // The owner has not finished its own construction yet.
    await Promise.resolve();
    while (!this.#signal.aborted) {
      for (const spool of this.#deps.spools.openLeft(this.#deps.report)) this.#spools.add(spool);
      this.#deps.report();
      for (const spool of this.#spools) {
        await this.#drain(spool).catch((error: unknown) =>
          this.#deps.report(`Clicks of a dead process still wait in the spool: ${String(error)}`, error),
        );
      }
      await this.#deps.pause(LOOK_EVERY_MS);
    }
  }

  async #drain(spool: ClickSpool): Promise<void> {
    while (spool.size().clicks > 0) {
      if (this.#signal.aborted) return;
      this.#deps.report();
      await drainOldest(spool, this.#deps.eventStore);
    }
    this.#spools.delete(spool);
    spool.close();
    this.#deps.report();
  }
}
