// Wakes who follows streams of some categories in the log of a file when one of them was appended to, in whichever thread of
// this process: a click wakes nobody who follows links.
import { resolve } from "node:path";
import { BroadcastChannel } from "node:worker_threads";

/** Other threads are told of all appends of this time at once, as each message wakes every one of them. */
const TELL_AFTER_MS = 10;

/** `next`: at an append since it was last called, after `timeoutMs`, or when `until` aborts. */
export type Appended = {
  next(timeoutMs: number, until: AbortSignal): Promise<void>;
  close(): void;
};

export class AppendSignal {
  readonly #channel: BroadcastChannel;
  readonly #listeners = new Set<(categories: readonly string[]) => void>();
  readonly #untold = new Set<string>();
  #isOpen = true;
  #telling: NodeJS.Timeout | undefined;

  /** Keeps no process. */
  constructor(file: string) {
    this.#channel = new BroadcastChannel(`appended to ${resolve(file)}`);
    this.#channel.onmessage = (event) => this.#wake((event as { data: string[] }).data);
    this.#channel.unref();
  }

  send(category: string): void {
    this.#wake([category]);
    this.#untold.add(category);
    this.#telling ??= setTimeout(() => {
      this.#telling = undefined;
      if (this.#isOpen) this.#channel.postMessage([...this.#untold]);
      this.#untold.clear();
    }, TELL_AFTER_MS).unref();
  }

  /** To streams of the categories, from now on. */
  listen(categories: readonly string[]): Appended {
    let isAppended = false;
    let wake = () => {};
    const onAppend = (appended: readonly string[]) => {
      if (!appended.some((category) => categories.includes(category))) return;
      isAppended = true;
      wake();
    };
    this.#listeners.add(onAppend);
    return {
      async next(timeoutMs, until) {
        const woken = Promise.withResolvers<void>();
        wake = woken.resolve;
        const timer = setTimeout(wake, timeoutMs);
        until.addEventListener("abort", wake);
        if (isAppended || until.aborted) wake();
        await woken.promise;
        isAppended = false;
        clearTimeout(timer);
        until.removeEventListener("abort", wake);
      },
      close: () => void this.#listeners.delete(onAppend),
    };
  }

  close(): void {
    this.#isOpen = false;
    this.#channel.close();
  }

  #wake(categories: readonly string[]): void {
    for (const onAppend of this.#listeners) onAppend(categories);
  }
}
