// The circuit breakers of all receivers of a worker; holds entries only for webhooks whose last attempt failed.
import type { Subscriber } from "../routing/subscribers.ts";
import {
  afterFailure,
  type Circuit,
  type CircuitSettings,
  closedCircuit,
  isOpen,
  widthOf,
} from "./circuit.ts";

export type ReceiverCircuitsDeps = {
  /** Milliseconds that never go back. */
  now: () => number;
  random: () => number;
  settings: CircuitSettings;
};

/** Another URL, or a resumed webhook, is another receiver: its owner has mended something, so its circuit is closed. */
type Receiver = Pick<Subscriber, "webhookId" | "url" | "activeSince">;

export class ReceiverCircuits {
  readonly #deps: ReceiverCircuitsDeps;
  /** By webhook id. */
  readonly #circuits = new Map<string, { receiver: Receiver; circuit: Circuit }>();

  constructor(deps: ReceiverCircuitsDeps) {
    this.#deps = deps;
  }

  /** Most deliveries to the receiver in flight; `closed` when its circuit is closed. */
  widthOf(receiver: Receiver, closed: number): number {
    return widthOf(this.#of(receiver), this.#deps.now(), closed);
  }

  succeeded(webhookId: string): void {
    this.#circuits.delete(webhookId);
  }

  failed(receiver: Receiver): void {
    const { now, random, settings } = this.#deps;
    const circuit = afterFailure(this.#of(receiver), now(), random(), settings);
    this.#circuits.set(receiver.webhookId, { receiver, circuit });
  }

  /** Ids of the webhooks that nothing is sent to for now. */
  open(): string[] {
    const now = this.#deps.now();
    return [...this.#circuits].flatMap(([webhookId, { circuit }]) =>
      isOpen(circuit, now) ? [webhookId] : [],
    );
  }

  #of({ webhookId, url, activeSince }: Receiver): Circuit {
    const known = this.#circuits.get(webhookId);
    const isSame = known?.receiver.url === url && known.receiver.activeSince === activeSince;
    return isSame ? known.circuit : closedCircuit;
  }
}
