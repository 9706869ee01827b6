// What a long command does beside its work: it shows how far it is, and ends cleanly at Ctrl-C.
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { logProgress } from "../event-store/log-progress.ts";
import type { EventStore } from "../event-store/port.ts";
import { describeProgress, progressOf } from "../projections/runner/progress.ts";
import { REFUSALS, Refused } from "../runtime/refused.ts";
import { counted, type Terminal } from "./output.ts";

export const EXIT_INTERRUPTED = REFUSALS.interrupted.exit;

const SIGNALS = ["SIGINT", "SIGTERM"] as const;
/** Terminals and npm may both send the first one. */
const SECOND_AFTER_MS = 1_000;
const FIRST_AFTER_MS = 1_000;
const REWRITE_EVERY_MS = 100;
const LINE_EVERY_MS = 10_000;

type Output = { isTTY?: boolean; write(text: string): unknown };

/** `share`: of the whole, 0 to 1. */
export type Step = { count: number; share: number; unit: "event" | "record" | "MB" };

/** Outside of `interruptible` a signal ends the process as it does any other. */
export class Work {
  readonly #terminal: Terminal;
  #line: ReturnType<typeof progressLine> | undefined;
  readonly #ending = new AbortController();
  #isInterruptible = false;
  #events = 0;
  #share = 0;

  /** `json`: a program reads the output, and is shown no progress. */
  constructor(terminal: Terminal, { json = false }: { json?: boolean } = {}) {
    this.#terminal = terminal;
    this.#line = json ? undefined : progressLine(terminal.stderr);
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
        if (this.#terminal.stderr.isTTY) this.#line?.say("Ending; press Ctrl-C again to end at once");
      } else if (performance.now() - interruptedAt > SECOND_AFTER_MS) this.#terminal.exit(EXIT_INTERRUPTED);
    };
    for (const signal of SIGNALS) this.#terminal.on(signal, interrupt);
    this.#isInterruptible = true;
    try {
      return await work();
    } finally {
      this.#isInterruptible = false;
      // Once interrupted, a second signal must not end the process before it has said so.
      if (!this.signal.aborted) for (const signal of SIGNALS) this.#terminal.off(signal, interrupt);
    }
  }

  /** Such as `42 %`. */
  get shareText(): string {
    return `${Math.floor(this.#share * 100)} %`;
  }

  show(step: Step): void {
    this.#share = step.share;
    if (!this.signal.aborted) this.#line?.show(step);
  }

  /** Writes parts of the log to standard output, as fast as they are read; without progress between them on a terminal. */
  async printing(parts: AsyncIterable<string>): Promise<undefined> {
    const { stdout } = this.#terminal;
    if (stdout.isTTY) this.#line = undefined;
    await this.interruptible(
      () => `${this.shareText} of the log was read: the output is not complete`,
      () => pipeline(Readable.from(parts), stdout, { end: false }),
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

/** One line that is rewritten on a terminal, else a line every ten seconds; nothing of what takes less than a second. */
export function progressLine(output: Output, now: () => number = () => performance.now()) {
  const begun = now();
  const { isTTY = false } = output;
  let shownAt = Number.NEGATIVE_INFINITY;
  /** Of the present pass: work that reads twice begins again, and some goes on where it once ended. */
  let start = { at: begun, share: 0, count: 0 };
  let last: Step | undefined;
  let isOpen = false;
  const say = (text: string) => {
    shownAt = now();
    output.write(isTTY ? `\r\u001b[K${text}` : `${text}\n`);
    isOpen = isTTY;
  };
  return {
    say,
    show(step: Step) {
      const { count, share, unit } = step;
      if (!last || share < last.share || count < last.count) start = { at: now(), share, count };
      last = step;
      if (now() - begun < (isTTY ? FIRST_AFTER_MS : LINE_EVERY_MS)) return;
      if (now() - shownAt < (isTTY ? REWRITE_EVERY_MS : LINE_EVERY_MS)) return;
      const amount = counted(count, unit, unit === "MB" ? unit : undefined);
      say(describeProgress(progressOf(count - start.count, now() - start.at, share, start.share), amount));
    },
    clear() {
      if (isOpen) output.write("\r\u001b[K");
      isOpen = false;
    },
  };
}
