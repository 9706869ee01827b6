// Takes events out of a client's stream by pulling, so that order, backpressure and errors stay with the consumer.
import type { RecordedEvent } from "../port.ts";
import type { EventPull } from "./driver.ts";
import { NoAnswer } from "./errors.ts";
import { type ClientEvent, recordedEvent } from "./events.ts";

/** What is used of a stream; the clients' own stream types and Node's disagree on optional members. */
type Source = {
  read(): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "readable" | "end" | "close", listener: () => void): unknown;
};

/** What both clients put into their streams. */
type ClientItem = { event?: ClientEvent };

export type PullOptions = {
  cancel(): void;
  /** Gives an error of the client its type. */
  typed(error: unknown): unknown;
};

/**
 * Wraps a stream of the client in the same tick it was made in: an `error` without a listener ends the process.
 * An error of the client doesn't end its stream, so the first one is kept and answers every later pull.
 */
export class Pull implements EventPull {
  readonly #stream: Source;
  readonly #options: PullOptions;
  #wake: () => void = () => {};
  #failure: { error: unknown } | undefined;
  #ended = false;
  lastArrival = Date.now();

  constructor(stream: Source, options: PullOptions) {
    this.#stream = stream;
    this.#options = options;
    stream.on("error", (error) => {
      this.#failure ??= { error: options.typed(error) };
      this.#wake();
    });
    stream.on("end", () => this.#finish());
    stream.on("close", () => this.#finish());
    stream.on("readable", () => {
      this.alive();
      this.#wake();
    });
  }

  buffered(): RecordedEvent | undefined {
    for (;;) {
      const item = this.#stream.read() as ClientItem | null;
      if (!item) return undefined;
      if (item.event) return recordedEvent(item.event);
    }
  }

  /** Marks life that brings no event, such as a checkpoint. */
  alive(): void {
    this.lastArrival = Date.now();
  }

  async next(idleMs: number, what: string, signal?: AbortSignal): Promise<RecordedEvent | undefined> {
    for (;;) {
      const event = this.buffered();
      if (event !== undefined) return event;
      if (this.#failure) throw this.#failure.error;
      if (this.#ended || signal?.aborted) return undefined;
      if (!(await this.#woken(idleMs, signal))) throw new NoAnswer(what, idleMs);
    }
  }

  cancel(): void {
    this.#options.cancel();
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

/** Rejects with NoAnswer after `ms`; the work continues, and its later failure is ignored. */
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
