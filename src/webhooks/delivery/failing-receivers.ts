// Receivers that keep failing rest for as long as they have been failing, so that their deliveries use up no attempts.
import type { FailureStreak } from "../queue/queue.ts";
import type { Receiver } from "../routing/subscribers.ts";

/** `failures` in a row begin a rest: as long as the streak has lasted, within `fromMs` and `toMs`. */
export type RestSettings = { failures: number; fromMs: number; toMs: number };

export const REST_SETTINGS: RestSettings = { failures: 10, fromMs: 5_000, toMs: 300_000 };

/** Milliseconds, give or take a fifth; 0 for a streak that begins no rest. */
export function restMs({ since, lastAt, attempts }: FailureStreak, settings = REST_SETTINGS): number {
  if (attempts < settings.failures) return 0;
  const lasted = Date.parse(lastAt) - Date.parse(since);
  return Math.min(settings.toMs, Math.max(settings.fromMs, lasted));
}

export type FailingReceiversDeps = {
  find: (webhookId: string) => Receiver | undefined;
  /** Milliseconds that never go back. */
  now: () => number;
  random: () => number;
  settings: RestSettings;
};

/** `activeSince`: a resumed webhook, or one with another URL, is another receiver: its owner has mended something. */
type Rest = { activeSince: string; until: number };

export class FailingReceivers {
  readonly #deps: FailingReceiversDeps;
  /** By webhook id, until its next success. */
  readonly #rests = new Map<string, Rest>();

  constructor(deps: FailingReceiversDeps) {
    this.#deps = deps;
  }

  /** Each rest varies by 20 %, as the schedule's waits do. */
  failed({ webhookId, activeSince }: Receiver, streak: FailureStreak): void {
    const { now, random, settings } = this.#deps;
    const ms = restMs(streak, settings);
    if (ms > 0) this.#rests.set(webhookId, { activeSince, until: now() + ms * (0.8 + 0.4 * random()) });
  }

  succeeded(webhookId: string): void {
    this.#rests.delete(webhookId);
  }

  /** Ids of the webhooks that nothing is sent to for now. */
  resting(): string[] {
    const now = this.#deps.now();
    return [...this.#rests.keys()].filter((webhookId) => (this.#restOf(webhookId)?.until ?? 0) > now);
  }

  /** Most deliveries in flight to one that isn't resting: after a rest a single one shows whether it is back. */
  roomOf(webhookId: string, usual: number): number {
    return this.#restOf(webhookId) ? 1 : usual;
  }

  #restOf(webhookId: string): Rest | undefined {
    const rest = this.#rests.get(webhookId);
    return rest && this.#deps.find(webhookId)?.activeSince === rest.activeSince ? rest : undefined;
  }
}
