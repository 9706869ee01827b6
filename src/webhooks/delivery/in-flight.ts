// The deliveries that a worker has just now, counted by webhook, so that one webhook can't take all its places.
import type { ClaimedDelivery } from "../queue/queue.ts";

export class InFlightDeliveries {
  readonly #tries = new Map<ClaimedDelivery, Promise<void>>();
  readonly #perWebhook = new Map<string, number>();

  /** `trying` must not reject. */
  add(claim: ClaimedDelivery, trying: Promise<void>, ended: () => void): void {
    this.#perWebhook.set(claim.webhookId, this.of(claim.webhookId) + 1);
    const whole = trying.finally(() => {
      this.#tries.delete(claim);
      const left = this.of(claim.webhookId) - 1;
      if (left > 0) this.#perWebhook.set(claim.webhookId, left);
      else this.#perWebhook.delete(claim.webhookId);
      ended();
    });
    this.#tries.set(claim, whole);
  }

  get size(): number {
    return this.#tries.size;
  }

  of(webhookId: string): number {
    return this.#perWebhook.get(webhookId) ?? 0;
  }

  claims(): ClaimedDelivery[] {
    return [...this.#tries.keys()];
  }

  /** Resolves when there is none. */
  async settled(): Promise<void> {
    while (this.#tries.size > 0) await Promise.all(this.#tries.values());
  }
}
