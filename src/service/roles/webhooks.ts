// The webhooks role: a thread that routes clicks while it holds the lease, and sends deliveries at any time.

import type { WebhooksStatus } from "../../webhooks/webhooks-messages.ts";
import { startWebhooks } from "../threads/webhooks.ts";
import type { RoleContext } from "./role-context.ts";

export function openWebhooks({
  config,
  log,
  leaseProblems,
  onStop,
}: RoleContext): () => Promise<WebhooksStatus | undefined> {
  const webhooks = startWebhooks(config, log);
  leaseProblems.set("webhooks", webhooks.leaseProblem);
  onStop((withinMs) => webhooks.stop(withinMs));
  return () => webhooks.status();
}
