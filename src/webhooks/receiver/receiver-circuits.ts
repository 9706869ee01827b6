// The circuit breakers of all receivers of a worker; holds entries only for webhooks whose last attempt failed.
import {
  afterFailure,
  type Circuit,
  type CircuitSettings,
  closedCircuit,
  isOpen,
  widthOf,
} from "./circuit.ts";

export type ReceiverCircuitsDeps = {
  /** Milliseconds. */
  now: () => number;
  random: () => number;
  settings: CircuitSettings;
};

export class ReceiverCircuits {
  readonly #deps: ReceiverCircuitsDeps;
  readonly #circuits = new Map<string, Circuit>();

  constructor(deps: ReceiverCircuitsDeps) {
    this.#deps = deps;
  }

  /** Most deliveries of the webhook in flight; `closed` when its circuit is closed. */
  widthOf(webhookId: string, closed: number): number {
    return widthOf(this.#of(webhookId), this.#deps.now(), closed);
  }

  succeeded(webhookId: string): void {
    this.#circuits.delete(webhookId);
  }

  failed(webhookId: string): void {
    const { now, random, settings } = this.#deps;
    this.#circuits.set(webhookId, afterFailure(this.#of(webhookId), now(), random(), settings));
  }

  /** Ids of the webhooks that nothing is sent to for now. */
  open(): string[] {
    const now = this.#deps.now();
    return [...this.#circuits].flatMap(([webhookId, circuit]) => (isOpen(circuit, now) ? [webhookId] : []));
  }

  #of(webhookId: string): Circuit {
    return this.#circuits.get(webhookId) ?? closedCircuit;
  }
}
