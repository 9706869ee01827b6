// Starts and watches the projector thread, so that folding never holds up a redirect.
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { Config } from "../config.ts";
import type { FromProjector, ToProjector } from "./projector-messages.ts";
import type { RunnerLog } from "./runner.ts";
import type { ProjectionStatus } from "./status.ts";

export type Projector = {
  /** Resolves when the thread has committed what it was at and is gone. */
  stop(): Promise<void>;
  /** Fresh from the thread; what it last told when it does not answer within a second. */
  status(): Promise<ProjectionStatus[]>;
};

const RESTART_FROM_MS = 250;
const RESTART_TO_MS = 15_000;
const ANSWER_WITHIN_MS = 1_000;
const STOP_WITHIN_MS = 10_000;
/** A thread that lived this long died of something new: the backoff starts over. */
const HEALTHY_AFTER_MS = 60_000;

/** Runs until `stop`; a thread that dies is started again with backoff. */
export function startProjector(config: Config, log: RunnerLog): Projector {
  const stopping = new AbortController();
  let worker: Worker | undefined;
  let lastStatus: ProjectionStatus[] = [];
  const askers = new Set<() => void>();

  const runOnce = (): Promise<void> =>
    new Promise((resolve) => {
      const thread = new Worker(new URL("./projector-thread.ts", import.meta.url), {
        name: "projector",
        workerData: { config },
        execArgv: [],
      });
      worker = thread;
      thread.on("message", (message: FromProjector) => {
        if (message.type === "log") return log[message.level](message.fields, message.message);
        lastStatus = message.projections;
        for (const answer of askers) answer();
      });
      thread.on("error", (err) => log.error({ err }, "projector thread failed"));
      thread.on("exit", (code) => {
        worker = undefined;
        if (!stopping.signal.aborted) log.error({ code }, "projector thread ended, starting it again");
        resolve();
      });
    });

  const watch = async () => {
    let deaths = 0;
    while (!stopping.signal.aborted) {
      const startedAt = performance.now();
      await runOnce();
      if (stopping.signal.aborted) return;
      deaths = performance.now() - startedAt > HEALTHY_AFTER_MS ? 1 : deaths + 1;
      const ms = Math.min(RESTART_TO_MS, RESTART_FROM_MS * 2 ** (deaths - 1)) * (0.5 + Math.random() / 2);
      await delay(ms, undefined, { signal: stopping.signal }).catch(() => undefined);
    }
  };
  const watching = watch();

  return {
    async stop() {
      stopping.abort();
      worker?.postMessage({ type: "stop" } satisfies ToProjector);
      const ended = new AbortController();
      const tooLong = delay(STOP_WITHIN_MS, "late", { signal: ended.signal }).catch(() => "ended");
      const outcome = await Promise.race([watching.then(() => "ended"), tooLong]);
      ended.abort();
      // Ending it anywhere is safe: what was not committed is folded again at the next start.
      if (outcome === "late") await worker?.terminate();
      await watching;
    },
    async status() {
      const thread = worker;
      if (!thread) return lastStatus;
      await new Promise<void>((resolve) => {
        const done = () => {
          clearTimeout(timer);
          askers.delete(done);
          resolve();
        };
        const timer = setTimeout(done, ANSWER_WITHIN_MS);
        askers.add(done);
        thread.postMessage({ type: "status" } satisfies ToProjector);
      });
      return lastStatus;
    },
  };
}
