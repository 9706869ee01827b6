// One reader of the log for several followers, of any speed, that stall, fail, leave and come back at their checkpoints, while
// the reader itself fails: each sees each event of its categories once and in order.
import { setImmediate as turn } from "node:timers/promises";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StoreUnavailable } from "../../src/stores/connections/errors.ts";
import { openEventStoreDb } from "../../src/stores/event-store/eventstoredb/event-store.ts";
import {
  type EventStore,
  type LogPage,
  type PageAsRead,
  type RecordedEvent,
  START,
  type StoredText,
} from "../../src/stores/event-store/port.ts";
import { type SharedLog, sharedLog } from "../../src/stores/event-store/shared-log.ts";
import { appendNext } from "../support/event-store/append-next.ts";
import { startDouble } from "../support/event-store/eventstoredb-double/double.ts";
import { loggedEvents, loggedTexts } from "../support/event-store/logged-events.ts";
import { sampleEvents } from "../support/event-store/sample-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { storeWith } from "../support/runtime/store-with.ts";
import { openStores } from "../support/runtime/stores.ts";
import { until } from "../support/runtime/until.ts";

type Opened = { store: EventStore; close(): Promise<void> };

const STORES = {
  async SQLite(): Promise<Opened> {
    const { eventStore, close } = await openStores();
    return { store: eventStore, close };
  },
  async "EventStoreDB, by the double"(): Promise<Opened> {
    const double = await startDouble();
    const store = await openEventStoreDb(double.connectionString);
    const close = async () => {
      await store.close();
      await double.close();
    };
    return { store, close };
  },
};

const CATEGORIES = ["link", "clicks", "seals"];

/** As projections, sealer and router follow. */
const FOLLOWERS = [
  { categories: ["link"], batchSize: 2, asTexts: false },
  { categories: ["clicks"], batchSize: 20, asTexts: false },
  { categories: ["clicks", "link"], batchSize: 3, asTexts: false },
  { categories: CATEGORIES, batchSize: 5, asTexts: true },
];

type Step =
  | { kind: "append"; category: string; count: number }
  | { kind: "come" | "leave" | "stall" | "go on" | "fail"; who: number }
  | { kind: "reader"; fault: "reads" | "fails" | "ends" }
  | { kind: "wait"; turns: number };

const who = fc.nat({ max: FOLLOWERS.length - 1 });
const steps: fc.Arbitrary<Step[]> = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("append"),
        category: fc.constantFrom(...CATEGORIES),
        count: fc.integer({ min: 1, max: 9 }),
      }),
    },
    {
      weight: 5,
      arbitrary: fc.record({ kind: fc.constantFrom("come", "leave", "stall", "go on", "fail"), who }),
    },
    fc.record({ kind: fc.constant("reader"), fault: fc.constantFrom("reads", "fails", "ends") }),
    {
      weight: 3,
      arbitrary: fc.record({ kind: fc.constant("wait"), turns: fc.integer({ min: 1, max: 20 }) }),
    },
  ),
  { maxLength: 60 },
);

/** Keeps what it has handled, and its checkpoint, whatever happens to it. */
class Follower {
  readonly seen: (RecordedEvent | StoredText)[] = [];
  readonly categories: readonly string[];
  readonly asTexts: boolean;
  readonly #batchSize: number;
  readonly #shared: SharedLog;
  #checkpoint = START;
  #running: { stop: AbortController; ended: Promise<void> } | undefined;
  #stalled: PromiseWithResolvers<void> | undefined;
  #fails = false;

  constructor(shared: SharedLog, { categories, asTexts, batchSize }: (typeof FOLLOWERS)[number]) {
    [this.#shared, this.categories, this.asTexts, this.#batchSize] = [shared, categories, asTexts, batchSize];
  }

  come(): void {
    if (this.#running) return;
    const stop = new AbortController();
    this.#running = { stop, ended: this.#run(stop.signal) };
  }

  async leave(): Promise<void> {
    this["go on"]();
    this.#running?.stop.abort();
    await this.#running?.ended;
    this.#running = undefined;
  }

  stall(): void {
    this.#stalled ??= Promise.withResolvers();
  }

  "go on"(): void {
    this.#stalled?.resolve();
    this.#stalled = undefined;
  }

  fail(): void {
    this.#fails = true;
  }

  #follow(signal: AbortSignal): AsyncIterable<LogPage<RecordedEvent | StoredText>> {
    const [categories, batchSize] = [this.categories, this.#batchSize];
    const options = { after: this.#checkpoint, categories, batchSize, signal };
    return this.asTexts ? this.#shared.subscribeStored(options) : this.#shared.subscribe(options);
  }

  async #run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      try {
        for await (const { events, next } of this.#follow(signal)) {
          await this.#stalled?.promise;
          if (this.#fails) throw new StoreUnavailable("its own store");
          expect(next > this.#checkpoint).toBe(true);
          this.seen.push(...events);
          this.#checkpoint = next;
        }
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
        this.#fails = false;
      }
      await turn();
    }
  }
}

/** Fails at the next call, or the next page, after it was told to. */
function unreliable(sound: EventStore) {
  let next: "reads" | "fails" | "ends" | undefined;
  const reading = async <P>(read: () => Promise<P>) => {
    if (next !== "reads") return await read();
    next = undefined;
    throw new StoreUnavailable("a read");
  };
  const store = storeWith(sound, {
    readAll: (options) => reading(() => sound.readAll(options)),
    readStored: (options) => reading(() => sound.readStored(options)),
    async *subscribeAsRead(options): AsyncGenerator<PageAsRead> {
      for await (const page of sound.subscribeAsRead(options)) {
        const happens = next;
        if (happens === "fails" || happens === "ends") next = undefined;
        if (happens === "fails") throw new StoreUnavailable("the subscription");
        if (happens === "ends") return;
        yield page;
      }
    },
  });
  return { store, will: (what: typeof next) => (next = what) };
}

async function seeAll(sound: EventStore, followers: readonly Follower[]): Promise<void> {
  for (const { seen, categories, asTexts } of followers) {
    const part = { categories, limit: 10_000 };
    const expected = asTexts ? await loggedTexts(sound, part) : await loggedEvents(sound, part);
    await until(`a follower of ${categories}`, () => seen.length >= expected.length, {
      everyMs: 1,
      withinMs: 20_000,
    });
    expect(seen).toEqual(expected);
  }
}

async function holds(open: () => Promise<Opened>, taken: readonly Step[], slow: number): Promise<void> {
  const { store: sound, close } = await open();
  const { store, will } = unreliable(sound);
  const shared = sharedLog(store, { pageEvents: 4, mostKept: 8, gatherMs: 0 });
  const followers = FOLLOWERS.map((options) => new Follower(shared, options));
  try {
    for (const step of taken)
      if (step.kind === "append") await appendNext(sound, `${step.category}-a`, sampleEvents(step.count));
      else if (step.kind === "wait") for (let n = 0; n < step.turns; n += 1) await turn();
      else if (step.kind === "reader") will(step.fault);
      else await followers[step.who]?.[step.kind]();
    for (const follower of followers) follower.come();
    for (const follower of followers) follower["go on"]();
    await seeAll(sound, followers);
    // One is far behind, while the others go on.
    followers[slow]?.stall();
    for (const category of CATEGORIES) await appendNext(sound, `${category}-a`, sampleEvents(6));
    await seeAll(
      sound,
      followers.filter((_, n) => n !== slow),
    );
    followers[slow]?.["go on"]();
    await seeAll(sound, followers);
  } finally {
    for (const follower of followers) await follower.leave();
    await close();
  }
}

/** Each history takes the double fifteen times as long. */
const RUNS = { SQLite: effort(25, 150), "EventStoreDB, by the double": effort(5, 150) };

describe.each(Object.entries(STORES))("a shared log: %s", (name, open) => {
  it("shows each follower each event once and in order, whatever happens to it, to others and to the reader", async () => {
    await fc.assert(
      fc.asyncProperty(steps, who, (taken, slow) => holds(open, taken, slow)),
      { numRuns: RUNS[name as keyof typeof RUNS] },
    );
  }, 120_000);
});
