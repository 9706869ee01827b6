// The webhooks role in the background thread: routes clicks while it holds the lease, and sends deliveries at any time.
import { runtimeDeps } from "../../../commands/runtime-deps.ts";
import type { Config } from "../../../config/config.ts";
import type { BasicLogger } from "../../../runtime/logging.ts";
import { type HoldLeaseDeps, holdLease } from "../../../stores/coordination/hold-lease.ts";
import { deliverySender } from "../../../webhooks/delivery/send-delivery.ts";
import { receiverResolver } from "../../../webhooks/receiver/resolve-receiver.ts";
import {
  createWebhooks,
  type Webhooks,
  type WebhooksDeps,
  type WebhooksStatus,
} from "../../../webhooks/run-webhooks.ts";

type RoleDeps = Pick<WebhooksDeps, "eventStore" | "secrets" | "deliveryQueue"> & {
  config: Config;
  log: BasicLogger;
};

export type WebhooksRole = Pick<Webhooks, "run"> & {
  /** Undefined while it can't be read. */
  status(): Promise<WebhooksStatus | undefined>;
  /** Ends the connections to receivers. */
  close(): Promise<void>;
};

export function webhooksOf({ config, ...deps }: RoleDeps, lease: Omit<HoldLeaseDeps, "name">): WebhooksRole {
  const sender = deliverySender({
    allowPrivate: config.webhookAllowPrivate,
    now: Date.now,
    resolve: receiverResolver(config.dnsServers),
  });
  const webhooks = createWebhooks({
    ...runtimeDeps,
    ...deps,
    baseUrl: config.baseUrl,
    send: sender.send,
    exclusively: (work, signal) => holdLease({ ...lease, name: "webhooks" }, work, signal),
  });
  return {
    run: webhooks.run,
    status: () =>
      webhooks.status().catch((err: unknown) => {
        deps.log.warn({ err }, "webhook status unavailable");
        return undefined;
      }),
    close: async () => sender.destroy(),
  };
}
