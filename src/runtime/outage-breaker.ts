// A circuit breaker: during an outage most calls fail immediately, and don't wait for the server's time-out.
/** `clock`: monotonic milliseconds; `openMs`: for how long no call is admitted after a failure. */
type OutageBreakerDeps = { clock: () => number; openMs: number };

const DEFAULTS: OutageBreakerDeps = { clock: () => performance.now(), openMs: 1_000 };

/** After `openMs`, a second by default, it admits one call as a trial; a success closes the circuit for all callers. */
export class OutageBreaker {
  readonly #deps: OutageBreakerDeps;
  #retryAt: number | undefined;

  constructor(deps: Partial<OutageBreakerDeps> = {}) {
    this.#deps = { ...DEFAULTS, ...deps };
  }

  /** Whether the last call failed. */
  get open(): boolean {
    return this.#retryAt !== undefined;
  }

  /** Whether the caller may call the server now; with an open circuit true for one caller every `openMs`. */
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
