// Lets redirects wait until a batch of clicks is committed, with or without a time limit.
import { Refused } from "../../runtime/refused.ts";

type Waiter = { batch: number; resolve: () => void };

export class CommitWaiters {
  #waiters: Waiter[] = [];

  /** Resolves when the batch is committed, however long that takes. */
  upTo(batch: number): Promise<void> {
    return new Promise((resolve) => this.#waiters.push({ batch, resolve }));
  }

  /** @throws recorder_busy (through the promise) when it takes longer than `ms` */
  within(batch: number, ms: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter);
        reject(new Refused("recorder_busy", "The click could not be recorded in time"));
      }, ms);
      const waiter: Waiter = {
        batch,
        resolve() {
          clearTimeout(timer);
          resolve();
        },
      };
      this.#waiters.push(waiter);
    });
  }

  /** Resolves the waiters of all batches up to this one. */
  wake(upTo: number): void {
    if (this.#waiters.length === 0) return;
    const due = this.#waiters.filter(({ batch }) => batch <= upTo);
    this.#waiters = this.#waiters.filter(({ batch }) => batch > upTo);
    for (const waiter of due) waiter.resolve();
  }
}
