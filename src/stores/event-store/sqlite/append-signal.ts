// Wakes who follows the log of a file when something is appended to it, in whichever thread of this process.
import { resolve } from "node:path";
import { BroadcastChannel } from "node:worker_threads";

/** Other threads are told of all appends of this time at once, as each message wakes every one of them. */
const TELL_AFTER_MS = 10;

export class AppendSignal {
  readonly #channel: BroadcastChannel;
  readonly #waiting = new Set<() => void>();
  #isOpen = true;
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

  /** `received` resolves at the next signal, after `timeoutMs`, or when `until` aborts, at the latest when it is cancelled. */
  next(timeoutMs: number, until: AbortSignal): { received: Promise<void>; cancel(): void } {
    const { promise, resolve: wake } = Promise.withResolvers<void>();
    const timer = setTimeout(wake, timeoutMs);
    const onAbort = () => wake();
    this.#waiting.add(wake);
    until.addEventListener("abort", onAbort);
    const cancel = () => {
      clearTimeout(timer);
      this.#waiting.delete(wake);
      until.removeEventListener("abort", onAbort);
      wake();
    };
    return { received: promise, cancel };
  }

  close(): void {
    this.#isOpen = false;
    this.#channel.close();
  }

  #wake(): void {
    for (const wake of this.#waiting) wake();
  }
}
