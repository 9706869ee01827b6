// Keeps a recorder thread running: restarts it with backoff whenever it ends, until it is stopped.
import { backoffMs } from "../../runtime/backoff.ts";
import type { RecorderReport } from "./recorder-report.ts";
import type { ToRecorder } from "./recorder-thread.ts";
import type { RecorderThread } from "./start-recorder-thread.ts";

export type SupervisedRecorderThreadDeps = {
  start: () => RecorderThread;
  /** [0,1) for jitter. */
  random: () => number;
  onReport: (report: RecorderReport) => void;
  onError: (message: string, error?: Error) => void;
  /** Called when a new thread runs in place of one that ended. */
  onRestarted: () => void;
};

const RESTART = { fromMs: 50, toMs: 5_000 };

export class SupervisedRecorderThread {
  readonly #deps: SupervisedRecorderThreadDeps;
  #thread: RecorderThread;
  /** Set while no thread is running. */
  #restartTimer: NodeJS.Timeout | undefined;
  #restarts = 0;
  #failuresInARow = 0;
  #stopping = false;

  constructor(deps: SupervisedRecorderThreadDeps) {
    this.#deps = deps;
    this.#thread = this.#start();
  }

  get isRunning(): boolean {
    return this.#restartTimer === undefined;
  }

  get restarts(): number {
    return this.#restarts;
  }

  send(message: ToRecorder): void {
    this.#thread.postMessage(message);
  }

  /** To be called after each success, so that the next restart comes without a long delay. */
  resetBackoff(): void {
    this.#failuresInARow = 0;
  }

  /** Resolves when the thread has closed its stores and ended. */
  async stop(): Promise<void> {
    this.#stopping = true;
    if (this.#restartTimer !== undefined) return clearTimeout(this.#restartTimer);
    const ended = new Promise<void>((resolve) => this.#thread.on("exit", () => resolve()));
    this.#thread.postMessage("stop");
    await ended;
  }

  #start(): RecorderThread {
    const { start, onReport, onError } = this.#deps;
    const thread = start();
    thread.on("message", onReport);
    thread.on("error", (error) => onError(`Recorder thread: ${error.message}`, error));
    thread.on("exit", (code) => {
      if (!this.#stopping) this.#restart(code);
    });
    return thread;
  }

  #restart(code: number): void {
    const { random, onError, onRestarted } = this.#deps;
    this.#restarts++;
    this.#failuresInARow++;
    onError(`Recorder thread ended with code ${code}; starting another`);
    const restart = () => {
      this.#restartTimer = undefined;
      this.#thread = this.#start();
      onRestarted();
    };
    this.#restartTimer = setTimeout(restart, backoffMs(this.#failuresInARow, RESTART, random));
  }
}
