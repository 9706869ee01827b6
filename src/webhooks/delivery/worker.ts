// Delivers what is due: claims within the limits, sends, settles; any number of workers, also of other processes.
import { setTimeout as sleep } from "node:timers/promises";
import type { ClaimedDelivery, DeliveryQueue } from "../queue/queue.ts";
import { ReceiverCircuits } from "../receiver/receiver-circuits.ts";
import { LINK_CLICKED } from "../routing/click-payload.ts";
import type { Subscriber } from "../routing/subscribers.ts";
import { InFlightDeliveries } from "./in-flight.ts";
import type { AttemptResult, OutgoingDelivery } from "./send-delivery.ts";
import { type PauseWebhook, settleAttempt } from "./settle-attempt.ts";
import { shareSlots } from "./share-slots.ts";
import { WorkerCounts } from "./worker-counts.ts";
import { WORKER_SETTINGS, type WorkerSettings } from "./worker-settings.ts";

type SigningKeys = Pick<OutgoingDelivery, "key" | "previousKey">;

export type WorkerDeps = {
  queue: DeliveryQueue;
  /** Undefined for a webhook that is not known yet. */
  find: (webhookId: string) => Subscriber | undefined;
  /** What to sign with now; undefined when the webhook has no key, or has just been removed. */
  keysOf: (webhookId: string) => Promise<SigningKeys | undefined>;
  send: (delivery: OutgoingDelivery) => Promise<AttemptResult>;
  pause: PauseWebhook;
  clock: () => Date;
  newId: () => string;
  random: () => number;
  log: { warn(fields: object, message: string): void };
  settings?: Partial<WorkerSettings> | undefined;
};

/** When a delivery could not even be tried for a reason of our own. */
const OWN_TROUBLE_MS = 60_000;
/** Until the directory has read that the webhook is paused. */
const UNTIL_PAUSED_MS = 1_000;
const KEY_MISSING = { reason: "its key is missing", cause: "key_missing" } as const;
const QUEUE_AWAY_MS = 1_000;
/** Least time between two looks, so that under load each claims many. */
const LOOK_GAP_MS = 5;
/** How long a success spares us saying again that there is no streak of failures. */
const STREAK_ENDED_MS = 60_000;

export class DeliveryWorker {
  readonly counts = new WorkerCounts();
  readonly circuits: ReceiverCircuits;
  readonly inFlight = new InFlightDeliveries();
  readonly #deps: WorkerDeps;
  readonly #settings: WorkerSettings;
  readonly #streakEndedAt = new Map<string, number>();
  #turn = 0;
  #wake: () => void = () => undefined;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.#settings = { ...WORKER_SETTINGS, ...deps.settings };
    const now = () => deps.clock().getTime();
    this.circuits = new ReceiverCircuits({ now, random: deps.random, settings: this.#settings.circuit });
  }

  /** Until the signal aborts; then what is under way is finished within `settleMs`, or given back to be sent again. */
  async run(signal: AbortSignal, settleMs = () => this.#settings.stopMs): Promise<void> {
    signal.addEventListener("abort", () => this.wake(), { once: true });
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      let waitMs = this.#settings.pollMs;
      try {
        await this.startDue();
      } catch (err) {
        this.#deps.log.warn({ err }, "webhook deliveries can't be claimed");
        waitMs = QUEUE_AWAY_MS;
      }
      if (signal.aborted) break;
      await within(waitMs, woken);
      await sleep(LOOK_GAP_MS);
    }
    await within(Math.min(this.#settings.stopMs, settleMs()), this.inFlight.settled());
    const now = this.#deps.clock().toISOString();
    for (const claim of this.inFlight.claims())
      await this.#deps.queue.defer(claim, now).catch(() => undefined);
  }

  /** There may be something to do before the next look. */
  wake(): void {
    this.#wake();
  }

  /** One look: begins to send what is due, as far as there is room. Answers how many. @throws what the queue throws */
  async startDue(): Promise<number> {
    const free = this.#settings.total - this.inFlight.size;
    if (free <= 0) return 0;
    const now = this.#deps.clock();
    const waiting = await this.#waiting(now);
    const shares = [...shareSlots(waiting, free)];
    const started = await Promise.all(shares.map(([webhook, limit]) => this.#start(webhook, limit, now)));
    return started.reduce((sum, count) => sum + count, 0);
  }

  /** Active webhooks with something due and room for it; another first each time, so that none is always the last. */
  async #waiting(now: Date): Promise<{ item: Subscriber; room: number }[]> {
    const { queue, find } = this.#deps;
    const waiting: { item: Subscriber; room: number }[] = [];
    for (const webhookId of await queue.dueWebhooks(now.toISOString())) {
      const webhook = find(webhookId);
      if (webhook?.status === "removed") await queue.cancel(webhookId, now.toISOString());
      if (webhook?.status !== "active") continue;
      const width = this.circuits.widthOf(webhookId, this.#settings.perWebhook);
      const room = width - this.inFlight.of(webhookId);
      if (room > 0) waiting.push({ item: webhook, room });
    }
    this.#turn += 1;
    const first = this.#turn % Math.max(1, waiting.length);
    return [...waiting.slice(first), ...waiting.slice(0, first)];
  }

  async #start(webhook: Subscriber, limit: number, at: Date): Promise<number> {
    const { queue, newId } = this.#deps;
    const { webhookId } = webhook;
    const now = at.toISOString();
    const until = new Date(at.getTime() + this.#settings.claimMs).toISOString();
    const claimed = await queue.claim({ webhookId, token: newId(), now, until, limit });
    if (claimed.length === 0) return 0;
    const keys = this.#keysOrPause(webhook);
    for (const claim of claimed) {
      this.counts.claimed(at.getTime() - Date.parse(claim.wasDueAt));
      this.inFlight.add(claim, this.#try(claim, webhook, keys), () => this.wake());
    }
    return claimed.length;
  }

  /** Never rejects. */
  async #try(
    claim: ClaimedDelivery,
    webhook: Subscriber,
    keys: Promise<SigningKeys | undefined>,
  ): Promise<void> {
    const { queue, log, pause, random, send } = this.#deps;
    const { webhookId, eventId } = claim;
    try {
      const signing = await keys;
      if (!signing) return void (await queue.defer(claim, this.#in(UNTIL_PAUSED_MS)));
      const body = Buffer.from(claim.body);
      const result = await send({ url: webhook.url, ...signing, id: eventId, body, event: LINK_CLICKED });
      this.counts.attempted(result.error?.code ?? "delivered");
      if (result.error) this.#failed(webhookId);
      else this.circuits.succeeded(webhookId);
      const { delaysMs } = this.#settings;
      const ours = await settleAttempt({ queue, pause, random, delaysMs }, claim, webhook, result);
      if (!ours) this.counts.attempted("too_late");
      if (!result.error) await this.#endStreak(webhookId);
    } catch (err) {
      log.warn({ err, webhookId, eventId }, "webhook delivery interrupted");
      await queue.defer(claim, this.#in(OWN_TROUBLE_MS)).catch(() => undefined);
    }
  }

  /** Undefined when the webhook has no key, for which it is now paused: nothing can be signed, and trying again mends nothing. */
  async #keysOrPause(webhook: Subscriber): Promise<SigningKeys | undefined> {
    const keys = await this.#deps.keysOf(webhook.webhookId);
    if (!keys) await this.#deps.pause(webhook, KEY_MISSING);
    return keys;
  }

  #in(ms: number): string {
    return new Date(this.#deps.clock().getTime() + ms).toISOString();
  }

  #failed(webhookId: string): void {
    this.#streakEndedAt.delete(webhookId);
    this.circuits.failed(webhookId);
  }

  /** Other workers may have noted failures, so it is said again from time to time. */
  async #endStreak(webhookId: string): Promise<void> {
    const now = this.#deps.clock().getTime();
    if (now - (this.#streakEndedAt.get(webhookId) ?? Number.NEGATIVE_INFINITY) < STREAK_ENDED_MS) return;
    await this.#deps.queue.endStreak(webhookId);
    this.#streakEndedAt.set(webhookId, now);
  }
}

/** Resolves when the work has, or time is up. */
function within(ms: number, work: Promise<void>): Promise<void> {
  return new Promise((resolve) => {
    const timer = setTimeout(resolve, ms);
    void work.then(() => {
      clearTimeout(timer);
      resolve();
    });
  });
}
