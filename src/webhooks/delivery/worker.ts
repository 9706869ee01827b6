// Claims due deliveries within the limits, sends and settles them; any number of workers and processes can run.
import type { SecretsInUse } from "../../commands/webhooks/signing-key.ts";
import type { WebhookPauseCause } from "../../events/vocabulary.ts";
import { inTime, type MonotonicClock, pause, systemClock } from "../../runtime/pause.ts";
import { whatToDo } from "../../stores/connections/errors.ts";
import type { ClaimedDelivery, DeliveryQueue } from "../queue/queue.ts";
import type { Receiver } from "../routing/subscribers.ts";
import { FailingReceivers, REST_SETTINGS, type RestSettings } from "./failing-receivers.ts";
import { outcomeOf, pauseReason, TRY_DELAYS_MS } from "./schedule.ts";
import type { AttemptResult, OutgoingDelivery } from "./send-delivery.ts";
import { WorkerCounts } from "./worker-counts.ts";

/** Limits and intervals; tests and benchmarks override them. */
export type WorkerSettings = {
  /** Most deliveries in flight: in total, and per webhook. */
  total: number;
  perWebhook: number;
  /** Duration of a claim, after which another worker may take the delivery; longer than any attempt. */
  claimMs: number;
  /** Interval of polls for due deliveries; the router of this process wakes the worker for those that it queues. */
  pollMs: number;
  /** How long a stop waits for deliveries in flight. */
  stopMs: number;
  delaysMs: readonly number[];
  rest: RestSettings;
};

const WORKER_SETTINGS: WorkerSettings = {
  total: 512,
  perWebhook: 8,
  claimMs: 30_000,
  pollMs: 2_000,
  stopMs: 5_000,
  delaysMs: TRY_DELAYS_MS,
  rest: REST_SETTINGS,
};

/** Pauses a webhook as the actor `system`. */
export type PauseWebhook = (
  webhook: Receiver,
  why: { reason: string; cause?: WebhookPauseCause },
) => Promise<void>;

export type WorkerDeps = {
  queue: DeliveryQueue;
  /** Undefined for a webhook that is not known yet. */
  find: (webhookId: string) => Receiver | undefined;
  /** Webhooks whose deliveries wait until they are resumed. */
  paused: () => string[];
  /** The signing keys in use now; undefined when the webhook has no key or was just removed. */
  keysOf: (webhookId: string) => Promise<SecretsInUse | undefined>;
  send: (delivery: OutgoingDelivery) => Promise<AttemptResult>;
  pause: PauseWebhook;
  clock: () => Date;
  /** For rests of receivers and ends of failure streaks, which must not come late when the clock is set back. */
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
  readonly failing: FailingReceivers;
  /** Attempts, none of which rejects. */
  readonly inFlight = new Map<ClaimedDelivery, Promise<void>>();
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
    const { find, random } = deps;
    this.failing = new FailingReceivers({ find, now: this.#now, random, settings: this.#settings.rest });
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
    await inTime(Math.min(this.#settings.stopMs, settleMs()), this.settled());
    const now = this.#deps.clock().toISOString();
    for (const claim of this.inFlight.keys()) await this.#deps.queue.defer(claim, now).catch(() => undefined);
  }

  /** Resolves when nothing is in flight. */
  async settled(): Promise<void> {
    while (this.inFlight.size > 0) await Promise.all(this.inFlight.values());
  }

  /** Why `run` can't claim due deliveries, and what to do; undefined while it can. */
  get claimFailure(): string | undefined {
    return this.#claimFailure;
  }

  /** Webhooks to which nothing is sent for now: paused ones, and those of receivers that keep failing. */
  resting(): string[] {
    return [...this.#deps.paused(), ...this.failing.resting()];
  }

  /** Polls now instead of at the end of the interval. */
  wake(): void {
    this.#wake();
  }

  /** One poll: claims and starts due deliveries up to the limits; returns how many. @throws what the queue throws */
  async startDue(): Promise<number> {
    let free = this.#settings.total - this.inFlight.size;
    if (free <= 0) return 0;
    const now = this.#deps.clock();
    const starting: Promise<number>[] = [];
    const waiting = await this.#waiting(now);
    const inFlight = Map.groupBy(this.inFlight.keys(), ({ webhookId }) => webhookId);
    for (const webhook of waiting) {
      const { webhookId } = webhook;
      const most = this.failing.roomOf(webhookId, this.#settings.perWebhook);
      const limit = Math.min(most - (inFlight.get(webhookId)?.length ?? 0), free);
      if (limit <= 0) continue;
      free -= limit;
      starting.push(this.#start(webhook, limit, now));
    }
    return (await Promise.all(starting)).reduce((sum, count) => sum + count, 0);
  }

  /** Active webhooks with due deliveries, rotated at each poll so that none is always last. */
  async #waiting(now: Date): Promise<Receiver[]> {
    const { queue, find } = this.#deps;
    const waiting: Receiver[] = [];
    for (const webhookId of await queue.dueWebhooks(now.toISOString(), this.resting())) {
      const webhook = find(webhookId);
      if (webhook?.status === "removed") await queue.cancel(webhookId, now.toISOString());
      if (webhook?.status === "active") waiting.push(webhook);
    }
    this.#turn += 1;
    const first = this.#turn % Math.max(1, waiting.length);
    return [...waiting.slice(first), ...waiting.slice(0, first)];
  }

  async #start(webhook: Receiver, limit: number, at: Date): Promise<number> {
    const { queue, newId } = this.#deps;
    const { webhookId } = webhook;
    const now = at.toISOString();
    const until = new Date(at.getTime() + this.#settings.claimMs).toISOString();
    const claimed = await queue.claim({ webhookId, token: newId(), now, until, limit });
    if (claimed.length === 0) return 0;
    const keys = this.#keysOrPause(webhook);
    for (const claim of claimed) {
      this.counts.claimed(at.getTime() - Date.parse(claim.wasDueAt));
      const attempt = this.#attempt(claim, webhook, keys).finally(() => {
        this.inFlight.delete(claim);
        this.wake();
      });
      this.inFlight.set(claim, attempt);
    }
    return claimed.length;
  }

  /** Never rejects. */
  async #attempt(
    claim: ClaimedDelivery,
    webhook: Receiver,
    signing: Promise<SecretsInUse | undefined>,
  ): Promise<void> {
    const { queue, log, send } = this.#deps;
    const { webhookId, eventId, event, body } = claim;
    try {
      const secrets = await signing;
      if (!secrets) return void (await queue.defer(claim, this.#in(UNTIL_PAUSED_MS)));
      const result = await send({ url: webhook.url, secrets, id: eventId, event, body });
      this.counts.attempted(result.error?.code ?? "delivered");
      const isSettled = await this.#settle(claim, result);
      if (!isSettled) this.counts.attempted("too_late");
      if (!result.error) await this.#endStreak(webhookId);
      else if (isSettled) await this.#noteFailure(webhook, result);
    } catch (err) {
      log.warn({ err, webhookId, eventId }, "webhook delivery interrupted");
      await queue.defer(claim, this.#in(INTERNAL_ERROR_MS)).catch(() => undefined);
    }
  }

  /** False when the claim has expired and another worker has the delivery: then only that worker's attempt counts. */
  async #settle(claim: ClaimedDelivery, result: AttemptResult): Promise<boolean> {
    const schedule = { delaysMs: this.#settings.delaysMs, random: this.#deps.random() };
    const outcome = outcomeOf(result, claim.tries, schedule);
    const { at, durationMs, status, error, answer } = result;
    const nextTryAt = outcome.state === "pending" ? outcome.dueAt : null;
    return await this.#deps.queue.settle(
      claim,
      { at, durationMs, status, error, answer, nextTryAt },
      outcome,
    );
  }

  /** Undefined when the webhook has no key; it is paused then, because no retry could be signed either. */
  async #keysOrPause(webhook: Receiver): Promise<SecretsInUse | undefined> {
    const keys = await this.#deps.keysOf(webhook.webhookId);
    if (!keys) await this.#deps.pause(webhook, KEY_MISSING);
    return keys;
  }

  #in(ms: number): string {
    return new Date(this.#deps.clock().getTime() + ms).toISOString();
  }

  /** Applies the rules of the streak: rest, and pause. */
  async #noteFailure(webhook: Receiver, { at, status }: AttemptResult): Promise<void> {
    const { webhookId, activeSince } = webhook;
    this.#streakEndedAt.delete(webhookId);
    const streak = await this.#deps.queue.noteFailure(webhookId, at, activeSince);
    this.failing.failed(webhook, streak);
    const reason = pauseReason(status, streak, at);
    if (reason !== undefined) await this.#deps.pause(webhook, { reason });
  }

  /** Repeated once a minute, because workers of other processes may have recorded failures since. */
  async #endStreak(webhookId: string): Promise<void> {
    this.failing.succeeded(webhookId);
    const now = this.#now();
    if (now - (this.#streakEndedAt.get(webhookId) ?? Number.NEGATIVE_INFINITY) < STREAK_ENDED_MS) return;
    await this.#deps.queue.endStreak(webhookId);
    this.#streakEndedAt.set(webhookId, now);
  }
}
