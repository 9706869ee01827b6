// Keeps an outage of a server from costing every caller a time-out: after a failure, others fail at once for a while.

/** `clock` in milliseconds; `openMs`: how long nobody asks after a failure. */
export type OutageBreakerDeps = { clock: () => number; openMs: number };

/** One caller at a time tries again once the pause is over; its success lets all others through. */
export class OutageBreaker {
  readonly #deps: OutageBreakerDeps;
  #retryAt: number | undefined;

  constructor(deps: OutageBreakerDeps) {
    this.#deps = deps;
  }

  /** Whether the last answer was a failure. */
  get open(): boolean {
    return this.#retryAt !== undefined;
  }

  /** Whether a call may go out now; true to one caller a pause while the server is away. */
  admits(): boolean {
    if (this.#retryAt === undefined) return true;
    if (this.#deps.clock() < this.#retryAt) return false;
    this.#retryAt = this.#deps.clock() + this.#deps.openMs;
    return true;
  }

  succeeded(): void {
    this.#retryAt = undefined;
  }

  failed(): void {
    this.#retryAt = this.#deps.clock() + this.#deps.openMs;
  }
}
