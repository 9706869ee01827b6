// Tracks the deliveries that a worker is sending, by webhook, so that one webhook cannot occupy all slots.
import type { ClaimedDelivery } from "../queue/queue.ts";

export class InFlightDeliveries {
  readonly #attempts = new Map<ClaimedDelivery, Promise<void>>();
  readonly #perWebhook = new Map<string, number>();

  /** `attempt` must not reject. */
  add(claim: ClaimedDelivery, attempt: Promise<void>, onSettled: () => void): void {
    this.#perWebhook.set(claim.webhookId, this.of(claim.webhookId) + 1);
    const settled = attempt.finally(() => {
      this.#attempts.delete(claim);
      const remaining = this.of(claim.webhookId) - 1;
      if (remaining > 0) this.#perWebhook.set(claim.webhookId, remaining);
      else this.#perWebhook.delete(claim.webhookId);
      onSettled();
    });
    this.#attempts.set(claim, settled);
  }

  get size(): number {
    return this.#attempts.size;
  }

  of(webhookId: string): number {
    return this.#perWebhook.get(webhookId) ?? 0;
  }

  claims(): ClaimedDelivery[] {
    return [...this.#attempts.keys()];
  }

  /** Resolves when nothing is in flight. */
  async settled(): Promise<void> {
    while (this.#attempts.size > 0) await Promise.all(this.#attempts.values());
  }
}
