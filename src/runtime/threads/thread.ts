// A worker thread that serves objects (serve-thread.ts): started when it is needed, again when it dies, and stopped in order.
import { Worker } from "node:worker_threads";
import { backoffMs } from "../keep-trying.ts";
import type { BasicLogger } from "../logging.ts";
import { inTime, pause } from "../pause.ts";
import { Calls, type ToError } from "./calls.ts";

export type ThreadOptions = {
  /** A module that calls serveThread. */
  file: URL;
  name: string;
  /** For the module: plain JSON. */
  data: unknown;
  toError: ToError;
  log: BasicLogger;
  /** The thread is ended after so long without a call, and the next one starts it. Never by default. */
  idleMs?: number;
};

export type Thread = Pick<Calls, "call" | "stream"> & {
  /** Starts it before the first call does, and resolves when it is ready. Rejects when it ends before that. */
  start(): Promise<void>;
  /** Waits for calls in flight, and for what the thread closes; terminates it after 90 % of `withinMs`. */
  close(withinMs?: number): Promise<void>;
};

const RESTART = { fromMs: 50, toMs: 5_000 };
/** A thread that dies later begins a new backoff. */
const HEALTHY_AFTER_MS = 60_000;
/** Terminating takes some time itself. It is safe at any point: what was not committed is done again. */
const TERMINATE_AFTER = 0.9;
const CLOSE_WITHIN_MS = 60_000;

type Running = { worker: Promise<Worker>; calls: Calls; ended: Promise<void> };

/** Calls in flight when the thread dies are rejected; later ones wait for the next. */
export function threadOf({ file, name, data, toError, log, idleMs }: ThreadOptions): Thread {
  let isClosed = false;
  let running: Running | undefined;
  let failures = 0;
  let users = 0;
  let idle: NodeJS.Timeout | undefined;

  const run = (): Running => {
    const startedAt = performance.now();
    const rest = failures === 0 ? Promise.resolve() : pause(backoffMs(failures, RESTART, Math.random));
    const worker = rest.then(() => new Worker(file, { name, workerData: data, execArgv: [] }));
    const calls = new Calls(
      {
        send: (messages) => void worker.then((started) => started.postMessage(messages)),
        onMessages: (receive) => void worker.then((started) => started.on("message", receive)),
      },
      { log: () => log },
      toError,
    );
    const ended: Promise<void> = worker.then(async (started) => {
      started.on("error", (err) => {
        calls.end(toError(`The ${name} thread failed: ${err}`, err));
        log.error({ err }, `${name} thread failed`);
      });
      await new Promise((resolve) => started.on("exit", resolve));
      calls.end(toError(`The ${name} thread has ended`));
      if (running?.ended !== ended) return;
      failures = performance.now() - startedAt > HEALTHY_AFTER_MS ? 1 : failures + 1;
      log.error({ failures }, `${name} thread ended, starting it again`);
      running = idleMs === undefined ? run() : undefined;
    });
    return { worker, calls, ended };
  };
  const stop = async (withinMs: number) => {
    const ending = running;
    running = undefined;
    ending?.calls.post("thread", "close", []);
    const ended = ending?.ended.then(() => true) ?? Promise.resolve(true);
    if (!(await inTime(withinMs * TERMINATE_AFTER, ended))) await (await ending?.worker)?.terminate();
    await ended;
  };
  const begin = (): Calls => {
    if (isClosed) throw toError(`The ${name} thread is closed`);
    users += 1;
    clearTimeout(idle);
    running ??= run();
    return running.calls;
  };
  const finish = () => {
    users -= 1;
    if (users === 0 && idleMs !== undefined)
      idle = setTimeout(() => void stop(CLOSE_WITHIN_MS), idleMs).unref();
  };
  const call: Thread["call"] = async (...args) =>
    await begin()
      .call(...args)
      .finally(finish);
  return {
    call,
    start: async () => void (await call("thread", "ready", [])),
    async *stream(...args) {
      const calls = begin();
      try {
        return yield* calls.stream(...args);
      } finally {
        finish();
      }
    },
    async close(withinMs = CLOSE_WITHIN_MS) {
      isClosed = true;
      clearTimeout(idle);
      await stop(withinMs);
    },
  };
}
