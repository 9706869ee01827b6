// Bounds the calls in flight, so that a burst waits here in order instead of flooding the server.
import { StoreUnavailable } from "../../connections/errors.ts";

export class Slots {
  #free: number;
  readonly #size: number;
  readonly #waiting: { resolve: () => void; reject: (error: StoreUnavailable) => void }[] = [];
  #idle: (() => void)[] = [];

  constructor(size: number) {
    this.#free = size;
    this.#size = size;
  }

  /**
   * Runs the work as soon as a slot is free, first come first served. When work finds the store unavailable, all that wait
   * fail with it: behind a server that doesn't answer each would wait longer than the one before.
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve, reject) => this.#waiting.push({ resolve, reject }));
    try {
      return await work();
    } catch (error) {
      if (error instanceof StoreUnavailable) for (const { reject } of this.#waiting.splice(0)) reject(error);
      throw error;
    } finally {
      this.#release();
    }
  }

  /** Resolves when nothing runs or waits. */
  async idle(): Promise<void> {
    if (this.#free < this.#size) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  /** The first that waits takes over the slot, so that the order is kept. */
  #release(): void {
    const next = this.#waiting.shift();
    if (next) next.resolve();
    else this.#free += 1;
    if (this.#free < this.#size) return;
    for (const resolve of this.#idle) resolve();
    this.#idle = [];
  }
}
