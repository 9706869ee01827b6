// Calls between two threads, or processes: each side serves objects by name, and calls methods of the other's. The calls of one
// turn of the event loop are one message, as a message costs more than most of them.
import { type ErrorFields, errorFields } from "../error-fields.ts";

/** Messages are plain JSON; between threads, whatever can be structured-cloned. */
export type Channel = {
  send(messages: Message[]): void;
  onMessages(receive: (messages: Message[]) => void): void;
};

/** Each object is opened by the first call of one of its methods. */
export type Served = Readonly<Record<string, () => object | Promise<object>>>;

/** Makes what a call rejects with of what the other side has thrown, which is the cause. */
export type ToError = (message: string, cause?: unknown) => Error;

/** `isCancellable`: the method gets an AbortSignal as its last argument. */
type Call = { object: string; method: string; args: readonly unknown[]; isCancellable?: boolean };
/** `open`: is answered with the first value of the stream, `next` with each of those after it. */
type Request = ({ op: "call" } & Call) | ({ op: "open" } & Call) | { op: "next"; stream: number };
type Numbered = Request & { id: number };
/** Objects and arrays as text, which for many values takes less CPU time than a structured clone. */
type Encoded = { json: string } | { value: unknown };
/** `isDone`: the generator has ended with this return value. */
type Outcome = ({ isDone: boolean } & Encoded) | { failure: ErrorFields };
/** `call`: of a call or a stream. */
type OneWay = ({ op: "post" } & Call) | { op: "cancel"; call: number };
export type Message = Numbered | OneWay | { op: "answer"; id: number; outcome: Outcome };

type Result = { isDone: boolean; value: unknown };
type Method = (...args: unknown[]) => unknown;
/** `generator`: of a stream that is open. */
type Running = { op: "call" | "open"; cancelled: AbortController; generator?: AsyncGenerator | undefined };

export class Calls {
  readonly #channel: Channel;
  readonly #served: Served;
  readonly #toError: ToError;
  readonly #pending = new Map<number, PromiseWithResolvers<Result>>();
  /** Cancellable calls that are not answered, and streams that are not at their end, by the other side's number. */
  readonly #running = new Map<number, Running>();
  readonly #answering = new Set<Promise<void>>();
  #outbox: Message[] = [];
  #lastId = 0;
  #ended: Error | undefined;

  constructor(channel: Channel, served: Served, toError: ToError) {
    this.#channel = channel;
    this.#served = served;
    this.#toError = toError;
    channel.onMessages((messages) => {
      for (const message of messages) this.#receive(message);
    });
  }

  /**
   * Rejects also when the other side ends before it answers. With a signal the method gets one, too, as its last argument:
   * when it aborts the call rejects at once with its reason, whatever the other side still does.
   */
  async call(
    object: string,
    method: string,
    args: readonly unknown[],
    signal?: AbortSignal,
  ): Promise<unknown> {
    if (!signal) return (await this.#ask({ op: "call", object, method, args }).answer).value;
    signal.throwIfAborted();
    const { id, answer } = this.#ask({ op: "call", object, method, args, isCancellable: true });
    const cancel = () => {
      this.#send({ op: "cancel", call: id });
      this.#pending.get(id)?.reject(signal.reason);
      this.#pending.delete(id);
    };
    signal.addEventListener("abort", cancel);
    return (await answer.finally(() => signal.removeEventListener("abort", cancel))).value;
  }

  /** Nobody learns whether it was done. */
  post(object: string, method: string, args: readonly unknown[]): void {
    this.#send({ op: "post", object, method, args });
  }

  /**
   * Of a method that is an async generator function, and gets an AbortSignal as its last argument. Values are pulled one by one,
   * so the other side works no further ahead than the consumer. Ends at once when the signal aborts, without a return value.
   */
  async *stream(
    object: string,
    method: string,
    args: readonly unknown[],
    signal: AbortSignal,
  ): AsyncGenerator<unknown, unknown> {
    if (signal.aborted) return undefined;
    let asked = this.#ask({ op: "open", object, method, args, isCancellable: true });
    const stream = asked.id;
    const cancel = () => this.#send({ op: "cancel", call: stream });
    const onAbort = () => {
      cancel();
      this.#pending.get(asked.id)?.resolve({ isDone: true, value: undefined });
      this.#pending.delete(asked.id);
    };
    signal.addEventListener("abort", onAbort);
    let isDone = false;
    try {
      for (;;) {
        const result = await asked.answer;
        isDone = result.isDone;
        if (isDone) return result.value;
        yield result.value;
        if (signal.aborted) return undefined;
        asked = this.#ask({ op: "next", stream });
      }
    } finally {
      signal.removeEventListener("abort", onAbort);
      if (!isDone && !signal.aborted) cancel();
    }
  }

  /** Ends the streams of the other side, and resolves when its calls are answered. */
  async finish(): Promise<void> {
    for (const [id, { op }] of this.#running) if (op === "open") this.#cancel(id);
    await Promise.all(this.#answering);
  }

  /** For when the other side has gone: rejects calls that wait for an answer, and all later ones, and ends what it waited for. */
  end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
    for (const id of this.#running.keys()) this.#cancel(id);
  }

  #ask(request: Request): { id: number; answer: Promise<Result> } {
    const id = ++this.#lastId;
    if (this.#ended) return { id, answer: Promise.reject(this.#ended) };
    const result = Promise.withResolvers<Result>();
    this.#pending.set(id, result);
    this.#send({ ...request, id });
    return { id, answer: result.promise };
  }

  #send(message: Message): void {
    if (this.#outbox.push(message) > 1) return;
    setImmediate(() => {
      const messages = this.#outbox;
      this.#outbox = [];
      this.#channel.send(messages);
    });
  }

  #receive(message: Message): void {
    // Sent before the other side has gone: nobody would cancel what it begins.
    if (this.#ended) return;
    if (message.op === "answer") this.#settle(message.id, message.outcome);
    else if (message.op === "cancel") this.#cancel(message.call);
    else if (message.op === "post") void this.#invoke(message).catch(() => undefined);
    else this.#answer(message);
  }

  #answer(request: Numbered): void {
    const answering = this.#perform(request)
      .catch((error: unknown) => ({ failure: errorFields(error) }))
      .then((outcome) => this.#send({ op: "answer", id: request.id, outcome }));
    this.#answering.add(answering);
    void answering.finally(() => this.#answering.delete(answering));
  }

  /** Of a call that was cancelled, nobody waits for the answer any more. */
  #settle(id: number, outcome: Outcome): void {
    const pending = this.#pending.get(id);
    if (!pending) return;
    this.#pending.delete(id);
    if ("failure" in outcome) {
      const { type, message } = outcome.failure;
      pending.reject(this.#toError(`${type}: ${message}`, outcome.failure));
    } else {
      const value = "json" in outcome ? JSON.parse(outcome.json) : outcome.value;
      pending.resolve({ isDone: outcome.isDone, value });
    }
  }

  /** What can be cancelled is registered before anything is awaited, as the next message may cancel it. */
  async #perform(request: Numbered): Promise<Outcome> {
    if (request.op === "next") return await this.#next(request.stream);
    if (!request.isCancellable) return outcomeOf(await (await this.#invoke(request)).result);
    const running: Running = { op: request.op, cancelled: new AbortController() };
    this.#running.set(request.id, running);
    try {
      const { result } = await this.#invoke(request, running.cancelled.signal);
      if (request.op === "call") return outcomeOf(await result);
      running.generator = result as AsyncGenerator | undefined;
      return await this.#next(request.id);
    } finally {
      if (!running.generator) this.#running.delete(request.id);
    }
  }

  async #next(stream: number): Promise<Outcome> {
    let next: IteratorResult<unknown> | undefined;
    try {
      next = await this.#running.get(stream)?.generator?.next();
    } finally {
      if (next?.done !== false) this.#running.delete(stream);
    }
    return outcomeOf(next?.value, next?.done !== false);
  }

  /** In an object, as a promise that the method returns would be awaited here; nothing of what was cancelled meanwhile. */
  async #invoke({ object, method, args }: Call, cancelled?: AbortSignal): Promise<{ result: unknown }> {
    const target = (await this.#served[object]?.()) as Record<string, Method> | undefined;
    if (typeof target?.[method] !== "function") throw new Error(`There is no ${object}.${method} here`);
    if (cancelled?.aborted) return { result: undefined };
    return { result: cancelled ? target[method](...args, cancelled) : target[method](...args) };
  }

  #cancel(id: number): void {
    const running = this.#running.get(id);
    this.#running.delete(id);
    running?.cancelled.abort();
    running?.generator?.return(undefined).catch(() => undefined);
  }
}

function outcomeOf(value: unknown, isDone = false): Outcome {
  return typeof value === "object" && value !== null && !(value instanceof Uint8Array)
    ? { isDone, json: JSON.stringify(value) }
    : { isDone, value };
}
