// The connection to one worker thread that serves objects: sends the requests of one turn of the event loop in one message,
// and matches answers to them by id.
import { Worker } from "node:worker_threads";
import type { ErrorFields } from "../error-fields.ts";
import type { BasicLogger } from "../logging.ts";
import {
  decoded,
  type Encoded,
  type FromThread,
  type MethodCall,
  type ThreadAnswer,
  type ThreadRequest,
  type ToThread,
} from "./thread-messages.ts";

export type ServingThreadOptions = {
  /** A module that calls serveThread. */
  file: URL;
  name: string;
  /** Plain JSON; the thread's `workerData`. */
  data: unknown;
  /** Makes the error that a call rejects with when it failed in the thread or the thread died. */
  toError: (message: string, cause?: unknown) => Error;
  /** Writes the thread's log lines; they are dropped when it is absent. */
  log?: BasicLogger;
};

type Answer = { done: boolean; value: unknown };
type Pending = { resolve(answer: Answer): void; reject(error: Error): void };

/** One worker thread, until it is closed or dies. */
export class ServingThread {
  readonly #worker: Worker;
  readonly #options: ServingThreadOptions;
  readonly #pending = new Map<number, Pending>();
  /** Requests of this turn of the event loop: a message costs more than most of them. */
  #outbox: ToThread[] = [];
  #lastId = 0;
  #dead: Error | undefined;

  /** Rejects when the thread fails to start; requests may be sent before it resolves. */
  readonly ready: Promise<unknown>;

  constructor(options: ServingThreadOptions) {
    const { file, name, data } = options;
    this.#options = options;
    this.#worker = new Worker(file, { name, workerData: data, execArgv: [] });
    this.#worker.on("message", (message: FromThread) => {
      if (Array.isArray(message)) for (const answer of message) this.#receive(answer);
      else options.log?.[message.level](message.fields, message.message);
    });
    this.#worker.on("error", (cause) => this.#end(`The ${name} thread failed: ${cause}`, cause));
    this.#worker.on("exit", () => this.#end(`The ${name} thread has ended`));
    this.ready = this.#answerTo(0);
    this.ready.catch(() => undefined);
  }

  get isDead(): boolean {
    return this.#dead !== undefined;
  }

  async request(request: ThreadRequest): Promise<Answer> {
    this.#lastId += 1;
    return await this.#send({ ...request, id: this.#lastId });
  }

  async *stream(call: MethodCall, signal: AbortSignal): AsyncGenerator<unknown, unknown> {
    if (signal.aborted) return undefined;
    this.#lastId += 1;
    const stream = this.#lastId;
    const cancel = () => this.#post({ op: "cancel", stream });
    signal.addEventListener("abort", cancel);
    try {
      await this.#send({ op: "open", ...call, id: stream });
      for (;;) {
        const { done, value } = await this.request({ op: "next", stream });
        if (done) return value;
        yield value;
      }
    } finally {
      signal.removeEventListener("abort", cancel);
      cancel();
    }
  }

  /** Terminates the thread after its answer, as an open handle in one of its modules would keep it running. */
  async close(): Promise<void> {
    try {
      if (!this.#dead) await this.request({ op: "close" });
    } finally {
      await this.#worker.terminate();
    }
  }

  async #send(message: ThreadRequest & { id: number }): Promise<Answer> {
    if (this.#dead) throw this.#dead;
    const answer = this.#answerTo(message.id);
    this.#post(message);
    return await answer;
  }

  #post(message: ToThread): void {
    if (this.#outbox.push(message) > 1) return;
    setImmediate(() => {
      const messages = this.#outbox;
      this.#outbox = [];
      this.#worker.postMessage(messages);
    });
  }

  #answerTo(id: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      // The worker is referenced only during requests, so that an idle thread does not keep the process alive.
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, { resolve, reject });
    });
  }

  #receive(message: ThreadAnswer): void {
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (this.#pending.size === 0) this.#worker.unref();
    if ("failure" in message) pending?.reject(this.#rejection(message.failure));
    else pending?.resolve({ done: message.done === true, value: decoded(message as Encoded) });
  }

  #rejection(cause: ErrorFields): Error {
    return this.#options.toError(`${cause.type}: ${cause.message}`, cause);
  }

  #end(message: string, cause?: unknown): void {
    this.#dead ??= this.#options.toError(message, cause);
    for (const { reject } of this.#pending.values()) reject(this.#dead);
    this.#pending.clear();
  }
}
