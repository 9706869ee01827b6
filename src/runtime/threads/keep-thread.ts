// Supervises a worker thread for the process's lifetime: restarts it when it dies, polls it, and stops it gracefully.
import { Worker } from "node:worker_threads";
import { keepRunning } from "../keep-trying.ts";
import type { BasicLogger } from "../logging.ts";
import { inTime } from "../pause.ts";

/** A log line that a thread sends to its parent, so that one process writes one log. */
export type ThreadLog = { type: "log"; level: "info" | "warn" | "error"; fields: object; message: string };

export type ThreadOptions<From extends { type: string }> = {
  file: URL;
  name: string;
  /** Plain JSON; the thread's `workerData`. */
  data: unknown;
  log: BasicLogger;
  /** Called with every message but log lines. */
  onMessage: (message: From) => void;
};

type KeptThread<To> = {
  /**
   * Resolves with true at the thread's next message, which `onMessage` gets; with false after half a second, or without
   * a thread.
   */
  request(message: To): Promise<boolean>;
  /** Posts `message` and resolves when the thread has ended; after 90 % of `withinMs` the thread is terminated. */
  stop(message: To, withinMs: number): Promise<void>;
};

const RESTART = { fromMs: 250, toMs: 15_000, random: Math.random };
const REQUEST_TIMEOUT_MS = 500;
/** Share of the stop's time after which the thread is terminated, as `terminate` takes some time itself. */
const TERMINATE_AFTER = 0.9;

/** Runs the thread until `stop`; restarts it with backoff when it dies. */
export function keepThread<From extends { type: string }, To>(options: ThreadOptions<From>): KeptThread<To> {
  const { file, name, data, log, onMessage } = options;
  const stopping = new AbortController();
  let worker: Worker | undefined;
  let nextMessage = Promise.withResolvers<true>();

  const runOnce = (): Promise<void> =>
    new Promise((resolve) => {
      const thread = new Worker(file, { name, workerData: data, execArgv: [] });
      worker = thread;
      thread.on("message", (message: From | ThreadLog) => {
        if (isLog(message)) return log[message.level](message.fields, message.message);
        onMessage(message);
        nextMessage.resolve(true);
        nextMessage = Promise.withResolvers();
      });
      thread.on("error", (err) => log.error({ err }, `${name} thread failed`));
      thread.on("exit", (code) => {
        worker = undefined;
        if (!stopping.signal.aborted) log.error({ code }, `${name} thread ended, starting it again`);
        resolve();
      });
    });

  const supervising = keepRunning(RESTART, runOnce, stopping.signal);

  return {
    async request(message) {
      if (!worker) return false;
      worker.postMessage(message);
      return (await inTime(REQUEST_TIMEOUT_MS, nextMessage.promise)) ?? false;
    },
    async stop(message, withinMs) {
      stopping.abort();
      worker?.postMessage(message);
      const hasEnded = await inTime(
        withinMs * TERMINATE_AFTER,
        supervising.then(() => true),
      );
      // Safe at any point: work that was not committed is repeated at the next start.
      if (!hasEnded) await worker?.terminate();
      await supervising;
    },
  };
}

function isLog(message: { type: string }): message is ThreadLog {
  return message.type === "log";
}
