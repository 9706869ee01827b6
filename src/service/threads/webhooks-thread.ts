// The webhooks thread: routes and delivers with store connections of its own, so that no redirect waits for it.
import { randomUUID } from "node:crypto";
import { parentPort, workerData } from "node:worker_threads";
import { runtimeDeps } from "../../commands/runtime-deps.ts";
import type { Config } from "../../config/config.ts";
import { threadLog } from "../../runtime/threads/in-thread.ts";
import type { ThreadLog } from "../../runtime/threads/keep-thread.ts";
import { holdLease, leaseHolder } from "../../stores/coordination/hold-lease.ts";
import { watchedLeases } from "../../stores/coordination/watched-leases.ts";
import { deliverySender } from "../../webhooks/delivery/send-delivery.ts";
import { receiverResolver } from "../../webhooks/receiver/resolve-receiver.ts";
import { createWebhooks } from "../../webhooks/run-webhooks.ts";
import type { FromWebhooks, ToWebhooks, WebhooksThreadData } from "../../webhooks/webhooks-messages.ts";
import { queriedStore, storesOf } from "../stores/backend.ts";

const parent = parentPort;
if (parent) {
  const { config } = workerData as WebhooksThreadData;
  await deliver(config, (message) => parent.postMessage(message), parent);
}

async function deliver(
  config: Config,
  send: (message: FromWebhooks | ThreadLog) => void,
  port: NonNullable<typeof parent>,
) {
  const stopping = new AbortController();
  const log = threadLog(send);
  const holder = leaseHolder(randomUUID);
  const stores = storesOf(config);
  const leases = watchedLeases(await stores.leases(), () => performance.now());
  const sender = deliverySender({
    allowPrivate: config.webhookAllowPrivate,
    now: Date.now,
    resolve: receiverResolver(config.dnsServers),
  });
  const webhooks = createWebhooks({
    ...runtimeDeps,
    eventStore: await stores.eventStore(),
    readStore: queriedStore(await stores.foldStore()),
    secrets: await stores.secrets(),
    deliveryQueue: await stores.deliveryQueue(),
    baseUrl: config.baseUrl,
    log,
    send: sender.send,
    exclusively: (work, signal) => holdLease({ leases, name: "webhooks", holder, log }, work, signal),
  });

  const report = async () => {
    const status = await webhooks.status().catch((err: unknown) => {
      log.warn({ err }, "webhook status unavailable");
      return undefined;
    });
    send({ type: "status", status, leaseProblem: leases.problem() });
  };
  let settleMs = Number.POSITIVE_INFINITY;
  // Only now, because the port keeps messages until it has a listener.
  port.on("message", (message: ToWebhooks) => {
    if (message.type !== "stop") return void report();
    settleMs = message.settleMs;
    stopping.abort();
  });
  await webhooks.run(stopping.signal, () => settleMs);
  sender.destroy();
  await stores.close();
  port.close();
}
