// Claims due deliveries within the limits, sends and settles them; any number of workers and processes can run.

import { inTime, type MonotonicClock, pause, systemClock } from "../../runtime/pause.ts";
import { whatToDo } from "../../stores/connections/errors.ts";
import type { ClaimedDelivery, DeliveryQueue } from "../queue/queue.ts";
import { ReceiverCircuits } from "../receiver/receiver-circuits.ts";
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
  /** The signing keys in use now; undefined when the webhook has no key or was just removed. */
  keysOf: (webhookId: string) => Promise<SigningKeys | undefined>;
  send: (delivery: OutgoingDelivery) => Promise<AttemptResult>;
  pause: PauseWebhook;
  clock: () => Date;
  /** For circuits of receivers and ends of failure streaks, which must not come late when the clock is set back. */
  now?: MonotonicClock["now"];
  newId: () => string;
  random: () => number;
  log: { warn(fields: object, message: string): void };
  settings?: Partial<WorkerSettings> | undefined;
};

/** Delay after an internal error, before the delivery is attempted again. */
const INTERNAL_ERROR_MS = 60_000;
/** Delay while the webhook is being paused, in which the directory usually reads the event. */
const UNTIL_PAUSED_MS = 1_000;
const KEY_MISSING = { reason: "its key is missing", cause: "key_missing" } as const;
const QUEUE_UNAVAILABLE_MS = 1_000;
/** Shortest time between two polls, so that under load each claims many deliveries. */
const POLL_GAP_MS = 5;
/** Successes of a webhook write the end of its failure streak at most this often. */
const STREAK_ENDED_MS = 60_000;

export class DeliveryWorker {
  readonly counts = new WorkerCounts();
  readonly circuits: ReceiverCircuits;
  readonly inFlight = new InFlightDeliveries();
  readonly #deps: WorkerDeps;
  readonly #settings: WorkerSettings;
  readonly #now: MonotonicClock["now"];
  readonly #streakEndedAt = new Map<string, number>();
  #turn = 0;
  #claimFailure: string | undefined;
  #wake: () => void = () => undefined;

  constructor(deps: WorkerDeps) {
    this.#deps = deps;
    this.#settings = { ...WORKER_SETTINGS, ...deps.settings };
    this.#now = deps.now ?? systemClock.now;
    const { circuit: settings } = this.#settings;
    this.circuits = new ReceiverCircuits({ now: this.#now, random: deps.random, settings });
  }

  /** Runs until the signal aborts; then deliveries in flight settle within `settleMs` or their claims are returned. */
  async run(signal: AbortSignal, settleMs = () => this.#settings.stopMs): Promise<void> {
    signal.addEventListener("abort", () => this.wake(), { once: true });
    while (!signal.aborted) {
      const woken = new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
      let waitMs = this.#settings.pollMs;
      try {
        await this.startDue();
        this.#claimFailure = undefined;
      } catch (err) {
        const failure = whatToDo(err);
        // One log line an outage.
        if (failure !== this.#claimFailure)
          this.#deps.log.warn({ err }, "webhook deliveries can't be claimed");
        this.#claimFailure = failure;
        waitMs = QUEUE_UNAVAILABLE_MS;
      }
      if (signal.aborted) break;
      await inTime(waitMs, woken);
      await pause(POLL_GAP_MS);
    }
    await inTime(Math.min(this.#settings.stopMs, settleMs()), this.inFlight.settled());
    const now = this.#deps.clock().toISOString();
    for (const claim of this.inFlight.claims())
      await this.#deps.queue.defer(claim, now).catch(() => undefined);
  }

  /** Why `run` can't claim due deliveries, and what to do; undefined while it can. */
  get claimFailure(): string | undefined {
    return this.#claimFailure;
  }

  /** Polls now instead of at the end of the interval. */
  wake(): void {
    this.#wake();
  }

  /** One poll: claims and starts due deliveries up to the limits; returns how many. @throws what the queue throws */
  async startDue(): Promise<number> {
    const free = this.#settings.total - this.inFlight.size;
    if (free <= 0) return 0;
    const now = this.#deps.clock();
    const waiting = await this.#waiting(now);
    const shares = [...shareSlots(waiting, free)];
    const started = await Promise.all(shares.map(([webhook, limit]) => this.#start(webhook, limit, now)));
    return started.reduce((sum, count) => sum + count, 0);
  }

  /** Active webhooks with due deliveries and free slots, rotated at each poll so that none is always last. */
  async #waiting(now: Date): Promise<{ item: Subscriber; room: number }[]> {
    const { queue, find } = this.#deps;
    const waiting: { item: Subscriber; room: number }[] = [];
    for (const webhookId of await queue.dueWebhooks(now.toISOString())) {
      const webhook = find(webhookId);
      if (webhook?.status === "removed") await queue.cancel(webhookId, now.toISOString());
      if (webhook?.status !== "active") continue;
      const width = this.circuits.widthOf(webhook, this.#settings.perWebhook);
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
      this.inFlight.add(claim, this.#attempt(claim, webhook, keys), () => this.wake());
    }
    return claimed.length;
  }

  /** Never rejects. */
  async #attempt(
    claim: ClaimedDelivery,
    webhook: Subscriber,
    keys: Promise<SigningKeys | undefined>,
  ): Promise<void> {
    const { queue, log, pause, random, send } = this.#deps;
    const { webhookId, eventId, event, body } = claim;
    try {
      const signing = await keys;
      if (!signing) return void (await queue.defer(claim, this.#in(UNTIL_PAUSED_MS)));
      const result = await send({ url: webhook.url, ...signing, id: eventId, event, body });
      this.counts.attempted(result.error?.code ?? "delivered");
      if (result.error) this.#failed(webhook);
      else this.circuits.succeeded(webhookId);
      const { delaysMs } = this.#settings;
      const isSettled = await settleAttempt({ queue, pause, random, delaysMs }, claim, webhook, result);
      if (!isSettled) this.counts.attempted("too_late");
      if (!result.error) await this.#endStreak(webhookId);
    } catch (err) {
      log.warn({ err, webhookId, eventId }, "webhook delivery interrupted");
      await queue.defer(claim, this.#in(INTERNAL_ERROR_MS)).catch(() => undefined);
    }
  }

  /** Undefined when the webhook has no key; it is paused then, because no retry could be signed either. */
  async #keysOrPause(webhook: Subscriber): Promise<SigningKeys | undefined> {
    const keys = await this.#deps.keysOf(webhook.webhookId);
    if (!keys) await this.#deps.pause(webhook, KEY_MISSING);
    return keys;
  }

  #in(ms: number): string {
    return new Date(this.#deps.clock().getTime() + ms).toISOString();
  }

  #failed(webhook: Subscriber): void {
    this.#streakEndedAt.delete(webhook.webhookId);
    this.circuits.failed(webhook);
  }

  /** Repeated once a minute, because workers of other processes may have recorded failures since. */
  async #endStreak(webhookId: string): Promise<void> {
    const now = this.#now();
    if (now - (this.#streakEndedAt.get(webhookId) ?? Number.NEGATIVE_INFINITY) < STREAK_ENDED_MS) return;
    await this.#deps.queue.endStreak(webhookId);
    this.#streakEndedAt.set(webhookId, now);
  }
}
