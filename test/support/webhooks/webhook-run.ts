// Real stores, a real router and worker in this process, and clicks appended by hand, for tests of deliveries.
import { randomUUID } from "node:crypto";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { newEvent } from "../../../src/events/new-event.ts";
import { type Backend, openBackend } from "../../../src/service/stores/backend.ts";
import { type DeliverySender, deliverySender } from "../../../src/webhooks/delivery/send-delivery.ts";
import { receiverResolver } from "../../../src/webhooks/receiver/resolve-receiver.ts";
import { createWebhooks, type WebhooksDeps } from "../../../src/webhooks/run-webhooks.ts";
import { operator } from "../commands/command-deps.ts";
import { appendNext } from "../event-store/append-next.ts";
import { linkClicked } from "../event-store/stored-events.ts";
import { temporaryFolder } from "../runtime/temporary-folder.ts";

/** Sends to loopback as the service would. `destroy` ends its connections. */
export function loopbackSender(clock = runtimeDeps.clock): DeliverySender {
  const now = () => clock().getTime();
  return deliverySender({ allowPrivate: true, resolve: receiverResolver([]), now });
}

/** Everything that the webhooks thread has, in this thread. */
export function webhooksOn(
  backend: Backend,
  more: Partial<WebhooksDeps> & Pick<WebhooksDeps, "send">,
): ReturnType<typeof createWebhooks> {
  return createWebhooks({
    ...runtimeDeps,
    ...backend,
    exclusively: (work, signal) => work(signal),
    log: { warn: () => undefined, error: () => undefined },
    baseUrl: "https://sho.rt",
    ...more,
  });
}

export type WebhookStores = Awaited<ReturnType<typeof openWebhookStores>>;

export async function openWebhookStores() {
  const folder = await temporaryFolder();
  const backend = await openBackend({ dataDir: folder.path });
  const { eventStore, secrets } = backend;
  return {
    dataDir: folder.path,
    backend,
    async account(): Promise<string> {
      const email = `${randomUUID()}@example.com`;
      const deps = { ...runtimeDeps, eventStore, secrets, keyPrefix: "ll" };
      return (await openAccount(deps, operator, { email, tier: "developer" })).accountId;
    },
    /** Appends that many clicks on links made through the API; answers their ids. */
    async clicks(accountId: string, count: number, stream = "clicks-test-20260301"): Promise<string[]> {
      const at = new Date().toISOString();
      const origin = { correlationId: "test", causationId: "test", actor: { type: "operator" as const } };
      const events = Array.from({ length: count }, () =>
        newEvent(linkClicked({ accountId, at }), randomUUID(), origin),
      );
      await appendNext(eventStore, stream, events);
      return events.map(({ id }) => id);
    },
    async close() {
      await backend.close();
      await folder.remove();
    },
  };
}
