// Invalidates the in-memory caches of a process from the event subscription: the only way in which they stay true.

import { type EventStore, type Position, type RecordedEvent, StoreUnavailable } from "../event-store/port.ts";
import { PREFIX } from "../events/streams.ts";
import type { ReadStore } from "../read-store/port.ts";
import { messageOf } from "../runtime/errors.ts";
import { keepTrying } from "../runtime/keep-trying.ts";
import { OutageBreaker } from "../runtime/outage-breaker.ts";
import { shareCalls } from "../runtime/share-calls.ts";

export type FollowedEvent = Pick<RecordedEvent, "stream" | "type" | "data" | "revision" | "position">;

export type LogFollowerDeps = {
  eventStore: Pick<EventStore, "head" | "readAll" | "subscribe">;
  readStore: Pick<ReadStore, "checkpoint">;
  /** Of the projections whose documents are kept in memory: what they did not show at the start is read from there on. */
  checkpoints: readonly string[];
  /** [0,1) for jitter. */
  random: () => number;
  log: (message: string) => void;
};

const PREFIXES = [PREFIX.account, PREFIX.link];
const PAGE = 1_000;
const RETRY = { fromMs: 50, toMs: 5_000 };
/** While the event store is away, one caller a second finds out, the others fail at once. */
const OUTAGE_PAUSE_MS = 1_000;
/** What a caller waits at most, also for what the documents did not show when the process started. */
const LONGEST_CATCH_UP_MS = 5_000;

/**
 * Follows the streams of accounts and links for a whole process and hands each event to the listeners.
 *
 * The rule about positions, for whoever keeps something in memory: it was read at a position (a document's `_position`,
 * a link's `revision`). A newer event about the same thing removes it, and raises the least position at which anything
 * read about the thing is believed from then on: a document that is behind it is answered from the thing's own stream
 * instead, so that a read model that is late cannot bring the old state back. Three things leave no gap:
 * - nothing is kept before `isFollowing`: an event between the first read and the start would never be followed;
 * - what the documents did not show at the start is read from their checkpoints on (the backlog);
 * - listeners only ever raise, so that an event may come twice and in any order.
 * No absence is kept at all, because who creates the thing elsewhere could not end it. What is kept has a time to live
 * of a minute besides, whatever happens to the subscription.
 */
export class LogFollower {
  readonly #deps: LogFollowerDeps;
  readonly #listeners: ((event: FollowedEvent) => void)[] = [];
  readonly #backlog = Promise.withResolvers<void>();
  readonly #store = new OutageBreaker({ clock: () => performance.now(), openMs: OUTAGE_PAUSE_MS });
  readonly #readToHead = shareCalls(() => this.#readOn());
  /** Every event from the start up to here has been handed out. */
  #position: Position | undefined;
  #isFollowing = false;
  #lastLink: Position | undefined;

  constructor(deps: LogFollowerDeps) {
    this.#deps = deps;
  }

  /** Whether every event from now on is heard of, so that something that is read now may be kept. */
  get isFollowing(): boolean {
    return this.#isFollowing;
  }

  /** Of the last event of a link that was followed; undefined when there was none. */
  get lastLinkPosition(): Position | undefined {
    return this.#lastLink;
  }

  /** `onEvent` may get an event more than once, and after a newer one. Before `run`. */
  listen(onEvent: (event: FollowedEvent) => void): void {
    this.#listeners.push(onEvent);
  }

  /** Resolves when the signal aborts; whatever fails is tried again after a jittered pause. */
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
   * Settles when every event that was appended before this call, by any process, has been handed to the listeners.
   * @throws StoreUnavailable, also when that takes more than five seconds
   */
  async catchUp(): Promise<void> {
    if (!this.#store.admits()) throw new StoreUnavailable("The event store is away");
    try {
      await settledWithin(LONGEST_CATCH_UP_MS, this.#readToHead(undefined));
      this.#store.succeeded();
    } catch (error) {
      this.#store.failed();
      throw error;
    }
  }

  async #subscribe(signal: AbortSignal, progress: () => void): Promise<void> {
    const options = { after: this.#position, prefixes: PREFIXES, signal };
    for await (const events of this.#deps.eventStore.subscribe(options)) {
      this.#handOut(events);
      this.#advance(events.at(-1)?.position);
      progress();
    }
    // A subscription that ends by itself was dropped.
    if (!signal.aborted) throw new Error("the subscription ended");
  }

  async #readBacklog(upTo: Position | undefined, signal: AbortSignal): Promise<void> {
    let after = upTo === undefined ? undefined : await this.#documentsPosition();
    while (upTo !== undefined && !signal.aborted && (after ?? "") < upTo) {
      const events = await this.#deps.eventStore.readAll({ after, prefixes: PREFIXES, limit: PAGE });
      this.#handOut(events);
      if (events.length < PAGE) break;
      after = events.at(-1)?.position;
    }
    this.#backlog.resolve();
  }

  async #documentsPosition(): Promise<Position | undefined> {
    const { readStore, checkpoints: names } = this.#deps;
    const checkpoints = await Promise.all(names.map((name) => readStore.checkpoint(name)));
    const positions = checkpoints.map((checkpoint) => checkpoint?.position);
    return positions.includes(undefined) ? undefined : positions.sort()[0];
  }

  /** The head may be an event of other streams, which no subscription to these ever reaches. */
  async #readOn(): Promise<void> {
    await this.#backlog.promise;
    const head = await this.#deps.eventStore.head();
    while ((this.#position ?? "") < (head ?? "")) {
      const after = this.#position;
      const events = await this.#deps.eventStore.readAll({ after, prefixes: PREFIXES, limit: PAGE });
      this.#handOut(events);
      this.#advance(events.length < PAGE ? head : events.at(-1)?.position);
    }
  }

  #handOut(events: readonly FollowedEvent[]): void {
    for (const event of events) {
      if (event.stream.startsWith(PREFIX.link) && event.position > (this.#lastLink ?? ""))
        this.#lastLink = event.position;
      for (const listener of this.#listeners) listener(event);
    }
  }

  /** The subscription and `catchUp` go their own ways: whichever is ahead. */
  #advance(position: Position | undefined): void {
    if (position !== undefined && position > (this.#position ?? "")) this.#position = position;
  }

  /** Until `work` succeeds; the pause starts small again after each `progress`. */
  async #persistently(signal: AbortSignal, work: (progress: () => void) => Promise<void>): Promise<void> {
    let last = "";
    const onFailure = (error: unknown) => {
      const message = messageOf(error);
      // The same outage is one line, however often it is tried.
      if (message !== last) this.#deps.log(`Following the log: ${message}`);
      last = message;
    };
    const noted = (progress: () => void) =>
      work(() => {
        last = "";
        progress();
      });
    await keepTrying({ ...RETRY, random: this.#deps.random, onFailure }, noted, signal);
  }
}

/** @throws StoreUnavailable when it takes longer */
async function settledWithin(ms: number, work: Promise<void>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new StoreUnavailable("The log is still being read")), ms);
  });
  await Promise.race([work, late]).finally(() => clearTimeout(timer));
}
