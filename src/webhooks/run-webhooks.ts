// Runs the parts of webhooks together: directory, router, delivery worker and the sweep of old deliveries.

import { isRefused } from "../commands/refusals.ts";
import { pauseWebhook } from "../commands/webhooks/change-webhooks.ts";
import { keysInUse } from "../commands/webhooks/webhook-key.ts";
import { DomainError } from "../runtime/errors.ts";
import { keepRunning } from "../runtime/keep-trying.ts";
import { pause, untilAborted } from "../runtime/pause.ts";
import { whatToDo } from "../stores/connections/errors.ts";
import { msBehind } from "../stores/event-store/next-event.ts";
import { type EventStore, START } from "../stores/event-store/port.ts";
import type { Secrets } from "../stores/secrets/port.ts";
import type { AttemptResult, OutgoingDelivery } from "./delivery/send-delivery.ts";
import { DeliveryWorker, type PauseWebhook, type WorkerSettings } from "./delivery/worker.ts";
import type { Counted } from "./delivery/worker-counts.ts";
import { type DeliveryQueue, oldestKept, type QueueStats } from "./queue/queue.ts";
import { WebhookDirectory } from "./routing/directory.ts";
import { ROUTED_CATEGORIES, routeClicks } from "./routing/router.ts";
import type { Receiver } from "./routing/subscribers.ts";

type Work = (signal: AbortSignal, progress: () => void) => Promise<void>;

export type WebhooksDeps = {
  eventStore: EventStore;
  secrets: Secrets;
  deliveryQueue: DeliveryQueue;
  send: (delivery: OutgoingDelivery) => Promise<AttemptResult>;
  /** Runs the work while this process holds the lease: router and sweep are singleton jobs. */
  exclusively: (work: (signal: AbortSignal) => Promise<void>, signal: AbortSignal) => Promise<void>;
  /** Of the default domain, without a trailing slash. */
  baseUrl: string;
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

/** What readiness and metrics tell of it. */
export type WebhooksStatus = {
  counted: Counted;
  /** When the status was read, milliseconds since 1970. */
  readAt: number;
  /** Undefined while it can't be read. */
  queue: QueueStats | undefined;
  /** Deliveries being sent, and receivers that rest because they keep failing. */
  inFlight: number;
  resting: number;
  /** Age of the oldest account or click event that is not routed yet; undefined while it can't be read. */
  routerLagMs: number | undefined;
  /** Why nothing is routed; undefined while the router works, or has nothing to do. */
  routerFailure: string | undefined;
  /** Why the queue can't be read, or due deliveries not be claimed; undefined while they can. */
  claimFailure: string | undefined;
};

/** At most two seconds: clicks are routed soon after a disk has space again. */
const RETRY = { fromMs: 250, toMs: 2_000 };
const SWEEP_EVERY_MS = 3_600_000;
const ROUTER = "webhook router";
const USUAL_LAG_MS = 1_000;

export function createWebhooks(deps: WebhooksDeps): Webhooks {
  const { eventStore, secrets, deliveryQueue: queue, clock, random, log } = deps;
  const wake = () => worker.wake();
  const directory = new WebhookDirectory(eventStore, wake);
  const worker = new DeliveryWorker({
    ...deps,
    queue,
    find: (webhookId) => directory.find(webhookId),
    paused: () => directory.paused(),
    keysOf: (webhookId) =>
      keysInUse(secrets, webhookId, clock(), (err) =>
        log.warn({ err, webhookId }, "the key of a webhook can't be decrypted"),
      ),
    pause: (webhook, why) => pauseByService(deps, webhook, why),
  });
  /** Of the parts that fail at the moment, by name. */
  const failing = new Map<string, string>();
  /** One log line an outage, which lasts until the next progress. */
  const keep = async (name: string, work: Work, signal: AbortSignal) => {
    const onFailure = (err: unknown, retryInMs: number) => {
      const message = whatToDo(err);
      if (failing.get(name) !== message) log.warn({ err, retryInMs }, `${name} interrupted, retrying`);
      failing.set(name, message);
    };
    const untilProgress = (progress: () => void) =>
      work(signal, () => {
        failing.delete(name);
        progress();
      });
    await keepRunning({ ...RETRY, random, onFailure }, untilProgress, signal);
    failing.delete(name);
  };

  return {
    async run(signal, settleMs) {
      const { promise: directoryReady, resolve: onDirectoryReady } = Promise.withResolvers<void>();
      const follow: Work = async (until, progress) => {
        await directory.catchUp();
        progress();
        onDirectoryReady();
        await directory.follow(until);
      };
      const route: Work = (until, onProgress) =>
        routeClicks(
          { eventStore, queue, clock, baseUrl: deps.baseUrl, log, onQueued: wake, onProgress },
          until,
        );
      const sweep: Work = (until) => sweepHourly(queue, clock, until);
      await Promise.all([
        keep("webhook directory", follow, signal),
        Promise.race([directoryReady, untilAborted(signal)]).then(() => worker.run(signal, settleMs)),
        deps.exclusively(
          async (until) =>
            void (await Promise.all([keep(ROUTER, route, until), keep("webhook sweep", sweep, until)])),
          signal,
        ),
      ]);
    },
    async status() {
      const now = clock();
      const router = await routerStatus(deps, now, failing.get(ROUTER));
      const stats = await queue
        .stats(now.toISOString(), worker.resting())
        .catch((error: unknown) => whatToDo(error));
      return {
        counted: await worker.counts.read(),
        readAt: now.getTime(),
        queue: typeof stats === "string" ? undefined : stats,
        inFlight: worker.inFlight.size,
        resting: worker.failing.resting().length,
        claimFailure: typeof stats === "string" ? stats : worker.claimFailure,
        ...router,
      };
    },
  };
}

/** Not an error, and not logged, when the webhook was paused or removed or its account closed in the meantime. */
async function pauseByService(
  deps: WebhooksDeps,
  webhook: Receiver,
  why: Parameters<PauseWebhook>[1],
): Promise<void> {
  const { accountId, webhookId } = webhook;
  const actor = { type: "system", id: "webhooks" } as const;
  try {
    const context = { requestId: deps.newId(), actor };
    const { isNew } = await pauseWebhook(deps, context, accountId, webhookId, why);
    if (isNew) deps.log.warn({ accountId, webhookId, reason: why.reason }, "webhook paused");
  } catch (err) {
    if (isRefused(err, "webhook_not_found", "account_not_found")) return;
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

/** `failure`: of the router in this process; it is over when no event has waited for longer than usual. */
async function routerStatus(
  { eventStore, deliveryQueue }: WebhooksDeps,
  now: Date,
  failure: string | undefined,
): Promise<Pick<WebhooksStatus, "routerLagMs" | "routerFailure">> {
  try {
    const after = (await deliveryQueue.routed())?.position ?? START;
    const [next] = (await eventStore.readAll({ after, categories: ROUTED_CATEGORIES, limit: 1 })).events;
    const routerLagMs = msBehind(next, now);
    return { routerLagMs, routerFailure: routerLagMs > USUAL_LAG_MS ? failure : undefined };
  } catch (error) {
    return { routerLagMs: undefined, routerFailure: failure ?? whatToDo(error) };
  }
}
