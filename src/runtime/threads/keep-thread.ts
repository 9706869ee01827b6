// A thread that is to run as long as the process: started again when it dies, asked, and stopped gracefully.
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Logger } from "pino";
import { keepRunning } from "../keep-trying.ts";

/** What a thread has its parent write, so that one process has one log. */
export type ThreadLog = { type: "log"; level: "info" | "warn" | "error"; fields: object; message: string };

export type ThreadOptions<From extends { type: string }> = {
  file: URL;
  name: string;
  /** Plain JSON; the thread's `workerData`. */
  data: unknown;
  log: Pick<Logger, "info" | "warn" | "error">;
  /** Everything it says but for the log. */
  heard: (message: From) => void;
};

export type KeptThread<To> = {
  /** Resolves when it has answered; after a second, or when there is no thread, without an answer. */
  ask(question: To): Promise<void>;
  /** Resolves when the thread is gone: it is ended wherever it is if it has not ended what it is at in time. */
  stop(last: To, withinMs: number): Promise<void>;
};

const RESTART = { fromMs: 250, toMs: 15_000, random: Math.random };
const ANSWER_WITHIN_MS = 1_000;
/** Of the time given: ending a thread by force takes some, too. */
const FORCED_AFTER = 0.9;

/** Runs until `stop`; a thread that dies is started again with backoff. */
export function keepThread<From extends { type: string }, To>(options: ThreadOptions<From>): KeptThread<To> {
  const { file, name, data, log, heard } = options;
  const stopping = new AbortController();
  let worker: Worker | undefined;
  const askers = new Set<() => void>();

  const runOnce = (): Promise<void> =>
    new Promise((resolve) => {
      const thread = new Worker(file, { name, workerData: data, execArgv: [] });
      worker = thread;
      thread.on("message", (message: From | ThreadLog) => {
        if (isLog(message)) return log[message.level](message.fields, message.message);
        heard(message);
        for (const answer of askers) answer();
      });
      thread.on("error", (err) => log.error({ err }, `${name} thread failed`));
      thread.on("exit", (code) => {
        worker = undefined;
        if (!stopping.signal.aborted) log.error({ code }, `${name} thread ended, starting it again`);
        resolve();
      });
    });

  const watching = keepRunning(RESTART, runOnce, stopping.signal);

  return {
    async ask(question) {
      const thread = worker;
      if (!thread) return;
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          askers.delete(done);
          resolve();
        };
        const timer = setTimeout(done, ANSWER_WITHIN_MS);
        askers.add(done);
        thread.postMessage(question);
      });
    },
    async stop(last, withinMs) {
      stopping.abort();
      worker?.postMessage(last);
      const ended = new AbortController();
      const tooLong = delay(withinMs * FORCED_AFTER, "late", { signal: ended.signal }).catch(() => "ended");
      const outcome = await Promise.race([watching.then(() => "ended"), tooLong]);
      ended.abort();
      // Ending it anywhere is safe: what was not committed is done again at the next start.
      if (outcome === "late") await worker?.terminate();
      await watching;
    },
  };
}

function isLog(message: { type: string }): message is ThreadLog {
  return message.type === "log";
}
