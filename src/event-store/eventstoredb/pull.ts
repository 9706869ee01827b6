// Reads a stream of db-client by pulling: order, backpressure and errors stay with the one who asks.
import { NoAnswer } from "./errors.ts";

/** What is used of a stream; the client's own stream types and Node's disagree on optional members. */
type Source = {
  read(): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "readable" | "end" | "close", listener: () => void): unknown;
};

/**
 * Wraps a stream of the client in the same tick it was made in: an `error` without a listener ends the process.
 * An error of the client doesn't end its stream, so the first one is kept and answers every later pull.
 */
export class Pull<T> {
  readonly #stream: Source;
  #wake: () => void = () => {};
  #failure: { error: unknown } | undefined;
  #ended = false;
  /** Milliseconds since the epoch of the last sign of life, by `clock`. */
  lastArrival: number;
  readonly #clock: () => number;

  constructor(stream: Source, clock: () => number) {
    this.#stream = stream;
    this.#clock = clock;
    this.lastArrival = clock();
    stream.on("error", (error) => {
      this.#failure ??= { error };
      this.#wake();
    });
    stream.on("end", () => this.#finish());
    stream.on("close", () => this.#finish());
    stream.on("readable", () => {
      this.lastArrival = clock();
      this.#wake();
    });
  }

  /** What is already here, without waiting; undefined when there is nothing. */
  buffered(): T | undefined {
    return (this.#stream.read() as T | null) ?? undefined;
  }

  /** Marks life that brings no item, such as a checkpoint. */
  alive(): void {
    this.lastArrival = this.#clock();
  }

  /**
   * The next item; undefined after a clean end or an abort.
   * @throws NoAnswer when nothing arrived for `idleMs`; the stream's own error
   */
  async next(idleMs: number, what: string, signal?: AbortSignal): Promise<T | undefined> {
    for (;;) {
      const item = this.buffered();
      if (item !== undefined) return item;
      if (this.#failure) throw this.#failure.error;
      if (this.#ended || signal?.aborted) return undefined;
      if (!(await this.#woken(idleMs, signal))) throw new NoAnswer(what, idleMs);
    }
  }

  /** False when time ran out first. */
  #woken(idleMs: number, signal?: AbortSignal): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), idleMs);
    const wake = () => resolve(true);
    this.#wake = wake;
    signal?.addEventListener("abort", wake);
    return promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", wake);
    });
  }

  #finish(): void {
    this.#ended = true;
    this.#wake();
  }
}

/** Rejects with NoAnswer after `ms`; the work goes on unseen, and its late failure disturbs nobody. */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new NoAnswer(what, ms)), ms);
  work.catch(() => {});
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
