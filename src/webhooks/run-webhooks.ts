// Runs the parts of webhooks together: directory, router, delivery worker and the sweep of old deliveries.
import { AccountNotFound } from "../commands/account/account-errors.ts";
import { WebhookNotFound } from "../commands/webhooks/webhook-errors.ts";
import { keysInUse } from "../commands/webhooks/webhook-key.ts";
import { pauseWebhook } from "../commands/webhooks/webhook-pause.ts";
import { ROUTER_CHECKPOINT } from "../coordination/router-checkpoint.ts";
import { msBehind } from "../event-store/next-event.ts";
import type { EventStore } from "../event-store/port.ts";
import { PREFIX } from "../events/streams.ts";
import type { ReadStore } from "../read-store/port.ts";
import { DomainError } from "../runtime/errors.ts";
import { keepRunning } from "../runtime/keep-trying.ts";
import { pause, untilAborted } from "../runtime/pause.ts";
import type { Secrets } from "../secrets/port.ts";
import type { AttemptResult, OutgoingDelivery } from "./delivery/send-delivery.ts";
import type { PauseWebhook } from "./delivery/settle-attempt.ts";
import { DeliveryWorker } from "./delivery/worker.ts";
import type { WorkerSettings } from "./delivery/worker-settings.ts";
import type { DeliveryQueue } from "./queue/queue.ts";
import { oldestKept } from "./queue/retention.ts";
import { WebhookDirectory } from "./routing/directory.ts";
import { routeClicks } from "./routing/router.ts";
import type { Subscriber } from "./routing/subscribers.ts";
import type { WebhooksStatus } from "./webhooks-messages.ts";

type Work = (signal: AbortSignal) => Promise<void>;

export type WebhooksDeps = {
  eventStore: EventStore;
  readStore: ReadStore;
  secrets: Secrets;
  deliveryQueue: DeliveryQueue;
  send: (delivery: OutgoingDelivery) => Promise<AttemptResult>;
  /** Runs the work while this process holds the lease: router and sweep are singleton jobs. */
  exclusively: (work: Work, signal: AbortSignal) => Promise<void>;
  clock: () => Date;
  newId: () => string;
  random: () => number;
  sleep: (ms: number) => Promise<void>;
  log: Record<"warn" | "error", (fields: object, message: string) => void>;
  settings?: Partial<WorkerSettings> | undefined;
};

export type Webhooks = {
  /** Runs until the signal aborts and the deliveries in flight are settled, or returned after `settleMs`. */
  run(signal: AbortSignal, settleMs?: () => number): Promise<void>;
  /** @throws what the stores throw */
  status(): Promise<WebhooksStatus>;
};

const RETRY = { fromMs: 250, toMs: 15_000 };
const SWEEP_EVERY_MS = 3_600_000;

export function createWebhooks(deps: WebhooksDeps): Webhooks {
  const { eventStore, readStore, secrets, deliveryQueue: queue, clock, random, log } = deps;
  const wake = () => worker.wake();
  const directory = new WebhookDirectory(eventStore, wake);
  const worker = new DeliveryWorker({
    ...deps,
    queue,
    find: (webhookId) => directory.find(webhookId),
    keysOf: (webhookId) =>
      keysInUse(secrets, webhookId, clock(), (err) =>
        log.warn({ err, webhookId }, "the key of a webhook can't be decrypted"),
      ),
    pause: (webhook, why) => pauseByService(deps, webhook, why),
  });
  const keep = (name: string, work: Work, signal: AbortSignal) =>
    keepRunning(
      {
        ...RETRY,
        random,
        onFailure: (err, retryInMs) => log.warn({ err, retryInMs }, `${name} interrupted, retrying`),
      },
      () => work(signal),
      signal,
    );

  return {
    async run(signal, settleMs) {
      const { promise: directoryReady, resolve: onDirectoryReady } = Promise.withResolvers<void>();
      const follow: Work = async (until) => {
        await directory.catchUp();
        onDirectoryReady();
        await directory.follow(until);
      };
      const route: Work = (until) =>
        routeClicks({ eventStore, readStore, queue, clock, onQueued: wake, log }, until);
      const sweep: Work = (until) => sweepHourly(queue, clock, until);
      await Promise.all([
        keep("webhook directory", follow, signal),
        Promise.race([directoryReady, untilAborted(signal)]).then(() => worker.run(signal, settleMs)),
        deps.exclusively(
          async (until) =>
            void (await Promise.all([
              keep("webhook router", route, until),
              keep("webhook sweep", sweep, until),
            ])),
          signal,
        ),
      ]);
    },
    async status() {
      const now = clock();
      const openCircuits = worker.circuits.open();
      const waiting = [...directory.paused(), ...openCircuits];
      return {
        counted: await worker.counts.read(),
        readAt: now.getTime(),
        queue: await queue.stats(now.toISOString(), waiting),
        inFlight: worker.inFlight.size,
        openCircuits: openCircuits.length,
        routerLagMs: await routerLag(deps, now),
      };
    },
  };
}

/** Not an error, and not logged, when the webhook was paused or removed or its account closed in the meantime. */
async function pauseByService(
  deps: WebhooksDeps,
  webhook: Subscriber,
  why: Parameters<PauseWebhook>[1],
): Promise<void> {
  const { accountId, webhookId } = webhook;
  const actor = { type: "system", id: "webhooks" } as const;
  try {
    const context = { requestId: deps.newId(), actor };
    const { isNew } = await pauseWebhook(deps, context, accountId, webhookId, why);
    if (isNew) deps.log.warn({ accountId, webhookId, reason: why.reason }, "webhook paused");
  } catch (err) {
    if (err instanceof WebhookNotFound || err instanceof AccountNotFound) return;
    if (!(err instanceof DomainError)) throw err;
    deps.log.warn({ err, webhookId }, "webhook could not be paused");
  }
}

async function sweepHourly(queue: DeliveryQueue, clock: () => Date, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await queue.sweep(oldestKept(clock()));
    await pause(SWEEP_EVERY_MS, signal);
  }
}

async function routerLag({ eventStore, readStore }: WebhooksDeps, now: Date): Promise<number> {
  const after = (await readStore.checkpoint(ROUTER_CHECKPOINT))?.position;
  const prefixes = [PREFIX.account, PREFIX.clicks];
  const [next] = await eventStore.readAll({ after, prefixes, limit: 1 });
  return msBehind(next, now);
}
