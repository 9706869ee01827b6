// Wakes who follows the log of a file when something is appended to it, in whichever thread of this process.
import { resolve } from "node:path";
import { BroadcastChannel } from "node:worker_threads";

/** Other threads are told of all appends of this time at once, as each message wakes every one of them. */
const TELL_AFTER_MS = 10;

export class AppendSignal {
  readonly #channel: BroadcastChannel;
  readonly #waiting = new Set<() => void>();
  #isOpen = true;
  /** Signals so far. */
  count = 0;
  #telling: NodeJS.Timeout | undefined;

  /** Keeps no process. */
  constructor(file: string) {
    this.#channel = new BroadcastChannel(`appended to ${resolve(file)}`);
    this.#channel.onmessage = () => this.#wake();
    this.#channel.unref();
  }

  send(): void {
    this.#wake();
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      if (this.#isOpen) this.#channel.postMessage(null);
    }, TELL_AFTER_MS).unref();
  }

  /** Resolves at the next signal, after `timeoutMs`, or when `until` aborts. */
  async next(timeoutMs: number, until: AbortSignal): Promise<void> {
    const { promise, resolve: wake } = Promise.withResolvers<void>();
    const onAbort = () => wake();
    const timer = setTimeout(wake, timeoutMs);
    this.#waiting.add(wake);
    until.addEventListener("abort", onAbort);
    if (until.aborted) wake();
    await promise;
    clearTimeout(timer);
    this.#waiting.delete(wake);
    until.removeEventListener("abort", onAbort);
  }

  close(): void {
    this.#isOpen = false;
    this.#channel.close();
  }

  #wake(): void {
    this.count += 1;
    for (const wake of this.#waiting) wake();
  }
}
