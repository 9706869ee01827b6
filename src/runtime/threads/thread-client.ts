// Calls methods of objects in a worker thread; starts the thread when it is needed, and replaces one that has died.
import { ServingThread, type ServingThreadOptions } from "./serving-thread.ts";

export type ThreadClientOptions = ServingThreadOptions & {
  /** The thread is ended after so long without a call, and the next call starts it again; never by default. */
  idleMs?: number;
};

export type ThreadClient = {
  /** Starts the thread and resolves when it is ready; otherwise the first call starts it. */
  start(): Promise<void>;
  call(object: string, method: string, args: readonly unknown[]): Promise<unknown>;
  /** Values are pulled one by one, so the thread works no further ahead than the consumer. Ends when the signal aborts. */
  stream(
    object: string,
    method: string,
    args: readonly unknown[],
    signal: AbortSignal,
  ): AsyncGenerator<unknown, unknown>;
  /** Waits for calls in flight, then ends the thread. */
  close(): Promise<void>;
};

/** Calls in flight when the thread dies are rejected; the next call starts a new thread. */
export function threadClient(options: ThreadClientOptions): ThreadClient {
  let thread: ServingThread | undefined;
  let users = 0;
  let idle: NodeJS.Timeout | undefined;
  let closed = false;

  const runningThread = (): ServingThread => {
    if (closed) throw options.toError(`The ${options.name} thread is closed`);
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
      await runningThread().ready;
    },
    async call(object, method, args) {
      begin();
      try {
        const { value } = await runningThread().request({ op: "call", object, method, args });
        return value;
      } finally {
        finish();
      }
    },
    async *stream(object, method, args, signal) {
      begin();
      try {
        return yield* runningThread().stream({ object, method, args }, signal);
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

/** Proxies for methods of an object in the thread: async methods whose arguments can be structured-cloned. */
export function remoteMethods<T extends object, M extends keyof T & string>(
  client: Pick<ThreadClient, "call">,
  object: string,
  methods: readonly M[],
): Pick<T, M> {
  const remote = methods.map((method) => [method, (...args: unknown[]) => client.call(object, method, args)]);
  return Object.fromEntries(remote) as Pick<T, M>;
}

/** The same for streaming methods, whose last argument is the signal (serve-thread.ts). */
export function remoteStreams<T extends object, M extends keyof T & string>(
  client: Pick<ThreadClient, "stream">,
  object: string,
  methods: readonly M[],
): Pick<T, M> {
  const remote = methods.map((method) => [
    method,
    (...args: unknown[]) => client.stream(object, method, args.slice(0, -1), args.at(-1) as AbortSignal),
  ]);
  return Object.fromEntries(remote) as Pick<T, M>;
}
