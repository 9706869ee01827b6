// Webhooks added to a backend the way the command line does, for tests that deliver.

import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { type AddedWebhook, addWebhook } from "../../../src/commands/webhooks/change-webhooks.ts";
import type { Backend } from "../../../src/service/stores/backend.ts";
import { receiverUrl } from "../../../src/webhooks/receiver/receiver-url.ts";
import { operator } from "../commands/command-deps.ts";

/** What commands on webhooks take, with receivers on loopback allowed. */
export function webhookDeps({ eventStore, secrets }: Pick<Backend, "eventStore" | "secrets">) {
  const accepted = (text: string) => receiverUrl(text, { allowPrivate: true });
  const base = { baseUrl: "http://localhost", baseHost: "localhost" };
  return { ...runtimeDeps, ...base, eventStore, secrets, receiverUrl: accepted };
}

/** `port`: of a receiver on loopback. */
export function webhookOf(
  backend: Pick<Backend, "eventStore" | "secrets">,
  accountId: string,
  port: number,
  kinds?: readonly string[],
): Promise<AddedWebhook> {
  const url = `http://127.0.0.1:${port}/hook`;
  return addWebhook(webhookDeps(backend), operator, accountId, { url, kinds });
}
