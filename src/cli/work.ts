// What a long command does beside its work: it shows how far it is, and ends cleanly at Ctrl-C.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { logProgress } from "../event-store/log-progress.ts";
import type { EventStore } from "../event-store/port.ts";
import { REFUSALS, Refused } from "../runtime/refused.ts";
import { type ProgressLine, progressLine, type Step } from "./progress-line.ts";

export const EXIT_INTERRUPTED = REFUSALS.interrupted.exit;

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** Terminals and npm may both send the first one. */
const SECOND_AFTER_MS = 1_000;

/** Outside of `interruptible` a signal ends the process as it does any other. */
export class Work {
  #line: ProgressLine | undefined;
  readonly #ending = new AbortController();
  #isInterruptible = false;
  #events = 0;
  #share = 0;

  /** `json`: a program reads the output, and is shown no progress. */
  constructor({ json = false }: { json?: boolean } = {}) {
    this.#line = json ? undefined : progressLine(process.stderr);
  }

  /** Aborted, with a refusal `interrupted` as its reason, by SIGINT and SIGTERM. */
  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** `outcome`: what was done by now, and how to go on. @throws what `work` throws */
  async interruptible<T>(outcome: () => string, work: () => Promise<T>): Promise<T> {
    let interruptedAt = 0;
    const interrupt = () => {
      if (!this.signal.aborted) {
        interruptedAt = performance.now();
        this.#ending.abort(new Refused("interrupted", outcome()));
        if (process.stderr.isTTY) this.#line?.say("Ending; press Ctrl-C again to end at once");
      } else if (performance.now() - interruptedAt > SECOND_AFTER_MS) process.exit(EXIT_INTERRUPTED);
    };
    for (const signal of SIGNALS) process.on(signal, interrupt);
    this.#isInterruptible = true;
    try {
      return await work();
    } finally {
      this.#isInterruptible = false;
      // Once interrupted, a second signal must not end the process before it has said so.
      if (!this.signal.aborted) for (const signal of SIGNALS) process.off(signal, interrupt);
    }
  }

  /** Such as `42 %`. */
  get shareText(): string {
    return `${Math.floor(this.#share * 100)} %`;
  }

  show(step: Step): void {
    this.#share = step.share ?? 0;
    if (!this.signal.aborted) this.#line?.show(step);
  }

  /** Writes parts of the log to standard output, as fast as they are read; without progress between them on a terminal. */
  async printing(parts: AsyncIterable<string>): Promise<undefined> {
    if (process.stdout.isTTY) this.#line = undefined;
    await this.interruptible(
      () => `${this.shareText} of the log was read: the output is not complete`,
      () => pipeline(Readable.from(parts), process.stdout, { end: false }),
    );
  }

  /** Before an answer is printed. */
  endLine(): void {
    this.#line?.clear();
  }

  /** The log, with progress by its positions: whatever reads it page by page shows how far it is and can be ended. */
  watched(log: EventStore): EventStore {
    let head: string | undefined;
    return {
      append: log.append.bind(log),
      read: log.read.bind(log),
      subscribe: log.subscribe.bind(log),
      head: log.head.bind(log),
      close: log.close.bind(log),
      readAll: async (options) => {
        if (this.#isInterruptible) this.signal.throwIfAborted();
        head ??= await log.head();
        const events = await log.readAll(options);
        if (options.after === undefined) this.#events = 0;
        this.#events += events.length;
        const last = events.at(-1)?.position ?? head;
        if (last && head) this.show({ count: this.#events, unit: "event", share: logProgress(last, head) });
        return events;
      },
    };
  }
}
