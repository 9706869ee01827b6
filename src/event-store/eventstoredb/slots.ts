// Bounds the calls in flight, so that a burst waits here in order instead of flooding the server.

export class Slots {
  #free: number;
  readonly #size: number;
  readonly #waiting: (() => void)[] = [];
  #idle: (() => void)[] = [];

  constructor(size: number) {
    this.#free = size;
    this.#size = size;
  }

  /** Runs the work as soon as a slot is free, first come first served. */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1;
    else await new Promise<void>((resolve) => this.#waiting.push(resolve));
    try {
      return await work();
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
    if (next) next();
    else this.#free += 1;
    if (this.#free < this.#size) return;
    for (const resolve of this.#idle) resolve();
    this.#idle = [];
  }
}
