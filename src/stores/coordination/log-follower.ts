// Invalidates the in-memory caches of a process from the event subscription, the only invalidation there is.

import { keepTrying, type Work } from "../../runtime/keep-trying.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { OutageBreaker } from "../../runtime/outage-breaker.ts";
import { inTime, type Sleep } from "../../runtime/pause.ts";
import { shareCalls } from "../../runtime/share-calls.ts";
import { StoreUnavailable } from "../connections/errors.ts";
import { logPages } from "../event-store/log-pages.ts";
import { type EventStore, type Position, type RecordedEvent, START } from "../event-store/port.ts";

export type FollowedEvent = Pick<RecordedEvent, "stream" | "type" | "data" | "revision" | "position">;

export type LogFollowerDeps = {
  eventStore: Pick<EventStore, "head" | "readAll" | "subscribe">;
  /** Which streams are followed; `linkPrefix`: of those of links. */
  followed: { categories: readonly string[]; linkPrefix: string };
  /** Up to where the documents that are cached were folded: events after it at the start are read too. */
  documentsPosition: () => Promise<Position>;
  /** [0,1) for jitter. */
  random: () => number;
  log: Pick<BasicLogger, "warn">;
  /** Tests give their own. */
  sleep?: Sleep;
};

const PAGE = 1_000;
const RETRY = { fromMs: 50, toMs: 5_000 };
/** Time limit of `catchUp`, including the wait for the backlog after the start. */
const LONGEST_CATCH_UP_MS = 5_000;

/**
 * Follows the streams of accounts and links for a whole process and passes their events to the listeners.
 *
 * The invalidation protocol for caches: every cached value was read at a position (a document's `_position`, a link's
 * `revision`). A newer event of the same entity removes the value and raises the entity's minimum position (or
 * revision): documents older than that are ignored and the entity's stream is read instead, so that a lagging read
 * model cannot restore the old state. There is no gap, because
 * - nothing is cached before `isFollowing`: an event between the read and the start would not be followed;
 * - events that the documents did not include at the start are read from the projections' checkpoints on (the backlog);
 * - minimum positions only grow, so events may arrive twice and in any order.
 * Absence is not cached: it would hide what another process creates until its event arrives. As a backstop every cached
 * value has a time to live of a minute, whatever happens to the subscription.
 */
export class LogFollower {
  readonly #deps: LogFollowerDeps;
  readonly #listeners: ((event: FollowedEvent) => void)[] = [];
  readonly #backlog = Promise.withResolvers<void>();
  readonly #store = new OutageBreaker();
  readonly #sharedReadToHead = shareCalls(() => this.#readToHead());
  /** Every event from the start up to this position was passed to the listeners. */
  #position = START;
  #isFollowing = false;
  #lastLink: Position | undefined;

  constructor(deps: LogFollowerDeps) {
    this.#deps = deps;
  }

  /** Whether every event from now on will reach the listeners, so that values read now may be cached. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** Position of the last link event that was passed on; undefined when there was none. */
  get lastLinkPosition(): Position | undefined {
    return this.#lastLink;
  }

  /** To be called before `run`. `onEvent` may get an event more than once, and after a newer one. */
  listen(onEvent: (event: FollowedEvent) => void): void {
    this.#listeners.push(onEvent);
  }

  /** Resolves when the signal aborts; failures are retried with backoff and jitter. */
  async run(signal: AbortSignal): Promise<void> {
    await this.#persistently(signal, async () => {
      this.#position = await this.#deps.eventStore.head();
    });
    if (signal.aborted) return;
    const start = this.#position;
    this.#isFollowing = true;
    await Promise.all([
      this.#persistently(signal, (progress) => this.#subscribe(signal, progress)),
      this.#persistently(signal, () => this.#readBacklog(start, signal)),
    ]);
  }

  /**
   * On-demand catch-up: resolves when every event that any process appended before this call has been passed to the
   * listeners. @throws StoreUnavailable, also when that takes more than five seconds
   */
  async catchUp(): Promise<void> {
    if (!this.#store.admits()) throw new StoreUnavailable("The event store is unavailable");
    try {
      const reading = this.#backlog.promise.then(() => this.#sharedReadToHead(undefined)).then(() => true);
      if (!(await inTime(LONGEST_CATCH_UP_MS, reading, this.#deps.sleep)))
        throw new StoreUnavailable("The log is still being read");
      this.#store.succeeded();
    } catch (error) {
      this.#store.failed();
      throw error;
    }
  }

  async #subscribe(signal: AbortSignal, progress: () => void): Promise<void> {
    const options = { after: this.#position, categories: this.#deps.followed.categories, signal };
    for await (const { events, next } of this.#deps.eventStore.subscribe(options)) {
      this.#notify(events);
      this.#advance(next);
      progress();
    }
    // A subscription that ends without an abort was dropped by the server.
    if (!signal.aborted) throw new Error("the subscription ended");
  }

  async #readBacklog(upTo: Position, signal: AbortSignal): Promise<void> {
    const after = upTo === START ? START : await this.#deps.documentsPosition();
    const part = { after, upTo, categories: this.#deps.followed.categories, limit: PAGE };
    for await (const { events } of logPages(this.#deps.eventStore, part)) {
      if (signal.aborted) break;
      this.#notify(events);
    }
    this.#backlog.resolve();
  }

  /** Reads instead of waiting for the subscription. */
  async #readToHead(): Promise<void> {
    const head = await this.#deps.eventStore.head();
    // A log that has become shorter was put back from an older copy: all of it is news.
    if (head < this.#position) [this.#position, this.#lastLink] = [START, undefined];
    const { categories } = this.#deps.followed;
    while (this.#position < head) {
      const part = { after: this.#position, categories, limit: PAGE };
      const { events, next } = await this.#deps.eventStore.readAll(part);
      this.#notify(events);
      this.#advance(next);
    }
  }

  #notify(events: readonly FollowedEvent[]): void {
    for (const event of events) {
      if (
        event.stream.startsWith(this.#deps.followed.linkPrefix) &&
        event.position > (this.#lastLink ?? START)
      )
        this.#lastLink = event.position;
      for (const listener of this.#listeners) listener(event);
    }
  }

  /** The subscription and `catchUp` run concurrently; the furthest position counts. */
  #advance(position: Position): void {
    if (position > this.#position) this.#position = position;
  }

  /** Retries until `work` succeeds; each `progress` resets the backoff. */
  async #persistently(signal: AbortSignal, work: Work): Promise<void> {
    const { log, random } = this.#deps;
    const onFailure = (err: unknown) => log.warn({ err }, "following the log failed, trying again");
    await keepTrying({ ...RETRY, random, onFailure }, work, signal);
  }
}
