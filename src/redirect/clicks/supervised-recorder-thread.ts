// Keeps a recorder thread running: restarts it with backoff whenever it ends, until it is stopped.
import { messageOf } from "../../runtime/errors.ts";
import { keepRunning } from "../../runtime/keep-trying.ts";
import type { RecorderReport } from "./recorder-report.ts";
import type { RecorderThread, StartRecorderThread, ToRecorder } from "./recorder-thread.ts";

export type SupervisedRecorderThreadDeps = {
  start: StartRecorderThread;
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
  readonly #stopping = new AbortController();
  readonly #ended: Promise<void>;
  /** Of the streams that threads have written, for the next one. */
  readonly #revisions = new Map<string, number>();
  #thread: RecorderThread | undefined;
  #restarts = 0;

  constructor(deps: SupervisedRecorderThreadDeps) {
    this.#deps = deps;
    const onFailure = (error: unknown) => {
      this.#restarts++;
      deps.onError(`Recorder thread: ${messageOf(error)}; starting another`);
    };
    const run = (progress: () => void) => this.#run(progress);
    this.#ended = keepRunning({ ...RESTART, random: deps.random, onFailure }, run, this.#stopping.signal);
  }

  get isRunning(): boolean {
    return this.#thread !== undefined;
  }

  get restarts(): number {
    return this.#restarts;
  }

  send(message: ToRecorder): void {
    this.#thread?.postMessage(message);
  }

  /** Resolves when the thread has closed its stores and ended. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    this.send("stop");
    await this.#ended;
  }

  /** Rejects when the thread ends, or can't be started. */
  #run(progress: () => void): Promise<never> {
    const { start, onReport, onError, onRestarted } = this.#deps;
    return new Promise((_, reject) => {
      const thread = start(this.#revisions);
      this.#thread = thread;
      thread.on("message", (report) => {
        if (report.type === "committed") {
          progress();
          for (const [stream, revision] of report.reached) this.#reach(stream, revision);
        }
        onReport(report);
      });
      thread.on("error", (error) => onError(`Recorder thread: ${error.message}`, error));
      thread.on("exit", (code) => {
        this.#thread = undefined;
        reject(new Error(`ended with code ${code}`));
      });
      if (this.#restarts > 0) onRestarted();
    });
  }

  /** Keeps three streams: after midnight the previous day's stream may still get a late hit. */
  #reach(stream: string, revision: number): void {
    this.#revisions.delete(stream);
    this.#revisions.set(stream, revision);
    if (this.#revisions.size > 3) this.#revisions.delete(this.#revisions.keys().next().value ?? "");
  }
}
