// Drains the spools of crashed threads and processes of this data folder into the event store.
import { messageOf } from "../../runtime/errors.ts";
import type { ClickSpool, ClickSpools, SpoolSize } from "./click-spool.ts";
import { type DrainDeps, drainClicks, MAX_CLICKS_AN_APPEND } from "./drain-clicks.ts";

export type OrphanedSpoolsDeps = DrainDeps & { spools: Pick<ClickSpools, "openOrphaned"> };

const SCAN_EVERY_MS = 5_000;

/** Scans the folder at the start and every five seconds, because a process that shares it may crash at any time. */
export class OrphanedSpools {
  readonly #deps: OrphanedSpoolsDeps;
  readonly #signal: AbortSignal;
  /** Called with a message for an error, and without one whenever the size has changed. */
  readonly #note: (message?: string, error?: unknown) => void;
  readonly #draining = new Map<ClickSpool, Promise<void>>();
  /** Resolves after the signal's abort, once the append in flight has settled. */
  readonly ended: Promise<void>;

  constructor(
    deps: OrphanedSpoolsDeps,
    signal: AbortSignal,
    note: (message?: string, error?: unknown) => void,
  ) {
    this.#deps = deps;
    this.#signal = signal;
    this.#note = note;
    this.ended = this.#scan();
  }

  size(): SpoolSize {
    const size = { clicks: 0, bytes: 0 };
    for (const spool of this.#draining.keys()) {
      size.clicks += spool.size().clicks;
      size.bytes += spool.size().bytes;
    }
    return size;
  }

  /** Spools that are not drained stay on disk for the next scan. */
  close(): void {
    for (const spool of this.#draining.keys()) spool.close();
  }

  async #scan(): Promise<void> {
    // Deferred, because the outbox's constructor, which made this object, has not finished yet.
    await Promise.resolve();
    while (!this.#signal.aborted) {
      try {
        for (const spool of this.#deps.spools.openOrphaned(this.#note))
          this.#draining.set(spool, this.#drain(spool));
        this.#note();
      } catch (error) {
        this.#note(messageOf(error), error);
      }
      await this.#deps.sleep(SCAN_EVERY_MS, this.#signal);
    }
    await Promise.all(this.#draining.values());
  }

  /** Each spool has a loop of its own, so that one which the store rejects does not block the others. */
  async #drain(spool: ClickSpool): Promise<void> {
    let isFailing = false;
    const next = () => {
      const spooled = spool.oldest(MAX_CLICKS_AN_APPEND);
      const onStored = () => {
        spool.drop(spooled?.upTo ?? 0);
        isFailing = false;
        this.#note();
      };
      return spooled && { ...spooled, onStored };
    };
    const onFailure = (error: unknown) => {
      if (!isFailing)
        this.#note(`Clicks of a crashed process still wait in the spool: ${messageOf(error)}`, error);
      isFailing = true;
    };
    await drainClicks(this.#deps, next, onFailure, this.#signal);
    if (spool.size().clicks > 0) return;
    this.#draining.delete(spool);
    try {
      spool.close();
      this.#note();
    } catch (error) {
      this.#note(messageOf(error), error);
    }
  }
}
