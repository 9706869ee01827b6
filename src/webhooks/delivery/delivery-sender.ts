// Sends deliveries with an HTTP client that is loaded at the first one, because many processes never send any.
import type { ResolveReceiver } from "../receiver/resolve-receiver.ts";
import type { Reach } from "../receiver/safe-address.ts";
import type { AttemptResult, OutgoingDelivery } from "./send-delivery.ts";

export type DeliverySender = {
  /** As `sendDelivery`: never rejects. */
  send(delivery: OutgoingDelivery): Promise<AttemptResult>;
  /** Closes all connections of the client, including those in use. */
  destroy(): Promise<void>;
};

export type DeliverySenderDeps = Reach & {
  resolve: ResolveReceiver;
  /** Milliseconds since 1970. */
  now: () => number;
};

export function deliverySender(deps: DeliverySenderDeps): DeliverySender {
  const { allowPrivate, now } = deps;
  let client: ReturnType<typeof load> | undefined;
  const load = async () => {
    const { safeAgent } = await import("../receiver/safe-connector.ts");
    const { sendDelivery } = await import("./send-delivery.ts");
    return { dispatcher: safeAgent(deps), sendDelivery };
  };
  return {
    async send(delivery) {
      client ??= load();
      const { dispatcher, sendDelivery } = await client;
      return await sendDelivery({ allowPrivate, dispatcher, now }, delivery);
    },
    async destroy() {
      await (await client)?.dispatcher.destroy();
    },
  };
}
