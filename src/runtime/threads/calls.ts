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

type Call = { object: string; method: string; args: readonly unknown[] };
type Request = ({ op: "call" } & Call) | ({ op: "open" } & Call) | { op: "next"; stream: number };
type Numbered = Request & { id: number };
/** Objects and arrays as text, which for many values takes less CPU time than a structured clone. */
type Encoded = { json: string } | { value: unknown };
/** `isDone`: the generator has ended with this return value. */
type Outcome = ({ isDone: boolean } & Encoded) | { failure: ErrorFields };
type OneWay = ({ op: "post" } & Call) | { op: "cancel"; stream: number };
export type Message = Numbered | OneWay | { op: "answer"; id: number; outcome: Outcome };

type Result = { isDone: boolean; value: unknown };
type Method = (...args: unknown[]) => unknown;
type Stream = { generator: AsyncGenerator; cancelled: AbortController };

export class Calls {
  readonly #channel: Channel;
  readonly #served: Served;
  readonly #toError: ToError;
  readonly #pending = new Map<number, PromiseWithResolvers<Result>>();
  readonly #streams = new Map<number, Stream>();
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

  /** Rejects also when the other side ends before it answers. */
  async call(object: string, method: string, args: readonly unknown[]): Promise<unknown> {
    return (await this.#ask({ op: "call", object, method, args })).value;
  }

  /** Nobody learns whether it was done. */
  post(object: string, method: string, args: readonly unknown[]): void {
    this.#send({ op: "post", object, method, args });
  }

  /**
   * Of a method that is an async generator function, and gets an AbortSignal as its last argument. Values are pulled one by one,
   * so the other side works no further ahead than the consumer. Ends when the signal aborts.
   */
  async *stream(
    object: string,
    method: string,
    args: readonly unknown[],
    signal: AbortSignal,
  ): AsyncGenerator<unknown, unknown> {
    if (signal.aborted) return undefined;
    const stream = ++this.#lastId;
    const cancel = () => this.#send({ op: "cancel", stream });
    signal.addEventListener("abort", cancel);
    try {
      await this.#ask({ op: "open", object, method, args }, stream);
      for (;;) {
        const { isDone, value } = await this.#ask({ op: "next", stream });
        if (isDone) return value;
        yield value;
      }
    } finally {
      signal.removeEventListener("abort", cancel);
      cancel();
    }
  }

  /** Ends the streams of the other side, and resolves when its calls are answered. */
  async finish(): Promise<void> {
    for (const id of this.#streams.keys()) this.#cancel(id);
    await Promise.all(this.#answering);
  }

  /** For when the other side has gone: rejects calls that wait for an answer, and all later ones. */
  end(error: Error): void {
    this.#ended ??= error;
    for (const { reject } of this.#pending.values()) reject(this.#ended);
    this.#pending.clear();
  }

  async #ask(request: Request, id = ++this.#lastId): Promise<Result> {
    if (this.#ended) throw this.#ended;
    const result = Promise.withResolvers<Result>();
    this.#pending.set(id, result);
    this.#send({ ...request, id });
    return await result.promise;
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
    if (message.op === "answer") this.#settle(message.id, message.outcome);
    else if (message.op === "cancel") this.#cancel(message.stream);
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

  #settle(id: number, outcome: Outcome): void {
    const pending = this.#pending.get(id);
    this.#pending.delete(id);
    if ("failure" in outcome) {
      const { type, message } = outcome.failure;
      pending?.reject(this.#toError(`${type}: ${message}`, outcome.failure));
    } else {
      const value = "json" in outcome ? JSON.parse(outcome.json) : outcome.value;
      pending?.resolve({ isDone: outcome.isDone, value });
    }
  }

  async #perform(request: Numbered): Promise<Outcome> {
    if (request.op === "call") return outcomeOf(await (await this.#invoke(request)).result);
    if (request.op === "open") {
      const cancelled = new AbortController();
      const { result } = await this.#invoke(request, cancelled.signal);
      this.#streams.set(request.id, { generator: result as AsyncGenerator, cancelled });
      return outcomeOf(undefined);
    }
    const next = await this.#streams.get(request.stream)?.generator.next();
    const isDone = next?.done !== false;
    if (isDone) this.#streams.delete(request.stream);
    return outcomeOf(next?.value, isDone);
  }

  /** In an object, as a promise that the method returns would be awaited here. */
  async #invoke({ object, method, args }: Call, ...more: unknown[]): Promise<{ result: unknown }> {
    const target = (await this.#served[object]?.()) as Record<string, Method> | undefined;
    if (typeof target?.[method] !== "function") throw new Error(`There is no ${object}.${method} here`);
    return { result: target[method](...args, ...more) };
  }

  #cancel(id: number): void {
    const stream = this.#streams.get(id);
    this.#streams.delete(id);
    stream?.cancelled.abort();
    stream?.generator.return(undefined).catch(() => undefined);
  }
}

function outcomeOf(value: unknown, isDone = false): Outcome {
  return typeof value === "object" && value !== null && !(value instanceof Uint8Array)
    ? { isDone, json: JSON.stringify(value) }
    : { isDone, value };
}
