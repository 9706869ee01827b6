// Takes events out of a gRPC call by pulling, so that order, backpressure and errors stay with the consumer.
import type { RecordedEvent } from "../port.ts";
import type { ReadCall } from "./client-internals.ts";
import type { EventPull } from "./driver.ts";
import { MissingStream, NoAnswer } from "./errors.ts";
import type { ReadAnswer } from "./protocol/read-answer.ts";

export type PullOptions = {
  /** Most events that wait here; then the call is paused until half of them are taken. */
  buffer: number;
  /** Gives an error of the client its type. */
  typed(error: unknown): unknown;
};

/** Opens the call and gives it to `onCall` in the same tick: an `error` without a listener ends the process. */
export type OpenCall = (onCall: (call: ReadCall) => void) => Promise<unknown>;

/** The events of one call. The first error is kept, and answers every pull after the events that came before it. */
export class Pull implements EventPull {
  readonly #options: PullOptions;
  readonly #opened: Promise<ReadCall | undefined>;
  /** Events from `#taken` on wait for the consumer. */
  #arrived: RecordedEvent[] = [];
  #taken = 0;
  #call: ReadCall | undefined;
  #isPaused = false;
  #wake: () => void = () => {};
  #failure: { error: unknown } | undefined;
  #ended = false;
  lastArrival = performance.now();

  constructor(open: OpenCall, options: PullOptions) {
    this.#options = options;
    const opening = open((call) => this.#listen(call));
    this.#opened = opening.then(
      () => this.#call,
      (error) => void this.#fail(error),
    );
  }

  buffered(): RecordedEvent | undefined {
    const event = this.#arrived[this.#taken];
    if (event === undefined) return undefined;
    this.#taken += 1;
    const waiting = this.#arrived.length - this.#taken;
    if (waiting === 0 || this.#taken >= this.#options.buffer) {
      this.#arrived = this.#arrived.slice(this.#taken);
      this.#taken = 0;
    }
    if (this.#isPaused && waiting <= this.#options.buffer / 2) {
      this.#isPaused = false;
      this.#call?.resume();
    }
    return event;
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

  /** In a later turn of the event loop, as the clients do: https://github.com/grpc/grpc-node/issues/1652. */
  cancel(): void {
    void this.#opened.then((call) => setImmediate(() => call?.cancel()));
  }

  #listen(call: ReadCall): void {
    this.#call = call;
    call.on("data", (answer) => this.#take(answer as ReadAnswer));
    call.on("error", (error) => this.#fail(error));
    call.on("end", () => {
      this.#ended = true;
      this.#wake();
    });
  }

  #take(answer: ReadAnswer): void {
    this.lastArrival = performance.now();
    if (answer === "no stream") this.#failure ??= { error: new MissingStream() };
    else if (answer !== "alive") this.#keep(answer);
    this.#wake();
  }

  #keep(event: RecordedEvent): void {
    this.#arrived.push(event);
    if (this.#isPaused || this.#arrived.length - this.#taken < this.#options.buffer) return;
    this.#isPaused = true;
    this.#call?.pause();
  }

  #fail(error: unknown): void {
    this.#failure ??= { error: this.#options.typed(error) };
    this.#wake();
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
}

/** Rejects with NoAnswer after `ms`; the work continues, and its later failure is ignored. */
export async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new NoAnswer(what, ms)), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
