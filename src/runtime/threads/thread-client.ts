// Calls objects that live in a worker thread: requests are pipelined, answers are matched by id, a dead thread is replaced.
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import type { ErrorFields } from "../error-fields.ts";
import {
  decoded,
  type Encoded,
  type FromThread,
  type MethodCall,
  type Request,
  type ToThread,
} from "./thread-messages.ts";

export type ThreadClientOptions = {
  /** A module that calls serveThread. */
  file: URL;
  name: string;
  /** Plain JSON; the thread's `workerData`. */
  data: unknown;
  /** The error that a call rejects with when it failed in the thread or the thread died. */
  failed: (message: string, cause?: unknown) => Error;
  /** For what the thread logs; none for one that logs nothing. */
  log?: Pick<Logger, "info" | "warn" | "error">;
  /** Ends the thread when it was not used for so long; the next call starts it again. Never by default. */
  idleMs?: number;
};

export type ThreadClient = {
  /** Resolves when the thread serves. Without it, the first call starts the thread. */
  start(): Promise<void>;
  call(object: string, method: string, args: readonly unknown[]): Promise<unknown>;
  /** Pulled: at most one value is on its way. Ends when the signal aborts. */
  stream(
    object: string,
    method: string,
    args: readonly unknown[],
    signal: AbortSignal,
  ): AsyncGenerator<unknown, unknown>;
  /** Calls in flight are answered first; then the thread ends. */
  close(): Promise<void>;
};

/** What was asked of a thread that died has failed and may be asked again: of a new thread. */
export function threadClient(options: ThreadClientOptions): ThreadClient {
  let thread: ServingThread | undefined;
  let users = 0;
  let idle: NodeJS.Timeout | undefined;
  let closed = false;

  const living = (): ServingThread => {
    if (closed) throw options.failed(`The ${options.name} thread is closed`);
    if (!thread || thread.isDead) thread = new ServingThread(options);
    return thread;
  };
  const end = async () => {
    const ending = thread;
    thread = undefined;
    await ending?.close();
  };
  const begin = () => {
    users += 1;
    clearTimeout(idle);
  };
  const finish = () => {
    users -= 1;
    if (users > 0 || options.idleMs === undefined || closed) return;
    idle = setTimeout(() => void end().catch(() => undefined), options.idleMs).unref();
  };
  return {
    async start() {
      await living().ready;
    },
    async call(object, method, args) {
      begin();
      try {
        const { value } = await living().ask({ op: "call", object, method, args });
        return value;
      } finally {
        finish();
      }
    },
    async *stream(object, method, args, signal) {
      begin();
      try {
        return yield* living().stream({ object, method, args }, signal);
      } finally {
        finish();
      }
    },
    async close() {
      closed = true;
      clearTimeout(idle);
      await end();
    },
  };
}

/** Some methods of an object in the thread, as if they were here. They have to be async and take what can be cloned. */
export function remoteMethods<T extends object, M extends keyof T & string>(
  client: Pick<ThreadClient, "call">,
  object: string,
  methods: readonly M[],
): Pick<T, M> {
  const remote = methods.map((method) => [method, (...args: unknown[]) => client.call(object, method, args)]);
  return Object.fromEntries(remote) as Pick<T, M>;
}

type Answer = { done: boolean; value: unknown };
type Pending = { resolve(answer: Answer): void; reject(error: Error): void };

class ServingThread {
  readonly #worker: Worker;
  readonly #options: ThreadClientOptions;
  readonly #pending = new Map<number, Pending>();
  #lastId = 0;
  #dead: Error | undefined;

  /** Rejects when the thread can't open what it serves; requests may be made before it is there. */
  readonly ready: Promise<unknown>;

  constructor(options: ThreadClientOptions) {
    const { file, name, data } = options;
    this.#options = options;
    this.#worker = new Worker(file, { name, workerData: data, execArgv: [] });
    this.#worker.on("message", (message: FromThread) => this.#receive(message));
    this.#worker.on("error", (cause) => this.#die(`The ${name} thread failed: ${cause}`, cause));
    this.#worker.on("exit", () => this.#die(`The ${name} thread has ended`));
    this.ready = this.#answerTo(0);
    this.ready.catch(() => undefined);
  }

  get isDead(): boolean {
    return this.#dead !== undefined;
  }

  async ask(request: Request): Promise<Answer> {
    this.#lastId += 1;
    return await this.#send({ ...request, id: this.#lastId });
  }

  async *stream(call: MethodCall, signal: AbortSignal): AsyncGenerator<unknown, unknown> {
    if (signal.aborted) return undefined;
    this.#lastId += 1;
    const stream = this.#lastId;
    const leave = () => this.#worker.postMessage({ op: "cancel", stream } satisfies ToThread);
    signal.addEventListener("abort", leave);
    try {
      await this.#send({ op: "open", ...call, id: stream });
      for (;;) {
        const { done, value } = await this.ask({ op: "next", stream });
        if (done) return value;
        yield value;
      }
    } finally {
      signal.removeEventListener("abort", leave);
      leave();
    }
  }

  /** Ended from outside in any case: a module that keeps something open would keep the thread. */
  async close(): Promise<void> {
    try {
      if (!this.#dead) await this.ask({ op: "close" });
    } finally {
      await this.#worker.terminate();
    }
  }

  async #send(message: Request & { id: number }): Promise<Answer> {
    if (this.#dead) throw this.#dead;
    const answer = this.#answerTo(message.id);
    this.#worker.postMessage(message);
    return await answer;
  }

  #answerTo(id: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      // Only a request in flight keeps the process alive.
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, { resolve, reject });
    });
  }

  #receive(message: FromThread): void {
    if ("type" in message) {
      this.#options.log?.[message.level](message.fields, message.message);
      return;
    }
    const pending = this.#pending.get(message.id);
    this.#pending.delete(message.id);
    if (this.#pending.size === 0) this.#worker.unref();
    if ("failure" in message) pending?.reject(this.#failed(message.failure));
    else pending?.resolve({ done: message.done === true, value: decoded(message as Encoded) });
  }

  #failed(cause: ErrorFields): Error {
    return this.#options.failed(`${cause.type}: ${cause.message}`, cause);
  }

  #die(message: string, cause?: unknown): void {
    this.#dead ??= this.#options.failed(message, cause);
    for (const { reject } of this.#pending.values()) reject(this.#dead);
    this.#pending.clear();
  }
}
