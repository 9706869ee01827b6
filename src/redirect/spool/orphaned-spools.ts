// Clicks that dead threads and processes of this data folder have left behind are brought into the event store.
import { messageOf } from "../../runtime/errors.ts";
import type { ClickSpool, ClickSpools, SpoolSize } from "./click-spool.ts";
import { type DrainDeps, drainClicks, MAX_CLICKS_AN_APPEND } from "./drain-clicks.ts";

export type OrphanedSpoolsDeps = DrainDeps & { spools: Pick<ClickSpools, "openOrphaned"> };

const LOOK_EVERY_MS = 5_000;

/** Looks at once and every few seconds: a process that shares the folder may die at any time. */
export class OrphanedSpools {
  readonly #deps: OrphanedSpoolsDeps;
  readonly #signal: AbortSignal;
  /** Called whenever the size has changed, and of trouble. */
  readonly #note: (message?: string, error?: unknown) => void;
  readonly #draining = new Map<ClickSpool, Promise<void>>();
  /** Resolves soon after the signal's abort. */
  readonly ended: Promise<void>;

  constructor(
    deps: OrphanedSpoolsDeps,
    signal: AbortSignal,
    note: (message?: string, error?: unknown) => void,
  ) {
    this.#deps = deps;
    this.#signal = signal;
    this.#note = note;
    this.ended = this.#look();
  }

  size(): SpoolSize {
    const size = { clicks: 0, bytes: 0 };
    for (const spool of this.#draining.keys()) {
      size.clicks += spool.size().clicks;
      size.bytes += spool.size().bytes;
    }
    return size;
  }

  /** What is not drained is left again. */
  close(): void {
    for (const spool of this.#draining.keys()) spool.close();
  }

  async #look(): Promise<void> {
    // The owner has not finished its own construction yet.
    await Promise.resolve();
    while (!this.#signal.aborted) {
      for (const spool of this.#deps.spools.openOrphaned(this.#note))
        this.#draining.set(spool, this.#drain(spool));
      this.#note();
      await this.#deps.sleep(LOOK_EVERY_MS, this.#signal);
    }
    await Promise.all(this.#draining.values());
  }

  /** Each by itself: one whose clicks the store refuses holds up no other. */
  async #drain(spool: ClickSpool): Promise<void> {
    let isFailing = false;
    const next = () => {
      const spooled = spool.oldest(MAX_CLICKS_AN_APPEND);
      const stored = () => {
        spool.drop(spooled?.upTo ?? 0);
        isFailing = false;
        this.#note();
      };
      return spooled && { ...spooled, stored };
    };
    const onFailure = (error: unknown) => {
      if (!isFailing)
        this.#note(`Clicks of a dead process still wait in the spool: ${messageOf(error)}`, error);
      isFailing = true;
    };
    await drainClicks(this.#deps, next, onFailure, this.#signal);
    if (spool.size().clicks > 0) return;
    this.#draining.delete(spool);
    spool.close();
    this.#note();
  }
}
