// One reader of the log for all who follow it in a thread: what is appended is read and parsed once, whoever needs it. Who is
// behind what is kept of it reads for himself until he has caught up.
import { pause } from "../../runtime/pause.ts";
import { inCategories } from "./categories.ts";
import type {
  EventStore,
  LogPage,
  PageAsRead,
  Position,
  ReadStoredOptions,
  RecordedEvent,
  StoredText,
  SubscribeOptions,
} from "./port.ts";

export type SharedLog = Pick<EventStore, "subscribe"> & {
  /** `subscribe`, with events as `readStored` gives them. */
  subscribeStored(options: SubscribeOptions): AsyncIterable<LogPage<StoredText>>;
};

/**
 * `pageEvents`: that are read at a time, as parsing them holds the thread up. `mostKept`: for who is slower than others, as
 * while a commit is written. `gatherMs`: between two pages, unless the first is full, as each costs every follower a turn.
 */
export type SharedLogPace = { pageEvents: number; mostKept: number; gatherMs: number };

const USUAL: SharedLogPace = { pageEvents: 2_000, mostKept: 10_000, gatherMs: 100 };

/** Of somebody who was at the end of the log. */
type Follower = { position: Position; categories: readonly string[] };

type Placed = Pick<RecordedEvent, "position" | "stream">;

/** How its events are taken out of a page, and how a page is read without the reader. */
type View<E> = {
  of(page: PageAsRead): readonly E[];
  read(part: ReadStoredOptions): Promise<LogPage<E>>;
};

/**
 * The reader asks for a page when somebody has taken all that it has. It reads nothing that no follower wants; who falls behind
 * what is kept holds up nobody. Where it fails, they fail who wait for it; the next one to come opens another.
 */
export function sharedLog(
  eventStore: Pick<EventStore, "readAll" | "readStored" | "subscribeAsRead">,
  pace = USUAL,
): SharedLog {
  const followers = new Set<Follower>();
  let reader: Reader | undefined;

  const end = () => {
    reader?.close();
    reader = undefined;
  };
  /** Another one, from where the last one was, when other categories are wanted. */
  const readerAt = (position: Position): Reader => {
    const wanted = new Set([...followers].flatMap(({ categories }) => categories));
    if (reader && !reader.isOver && wanted.symmetricDifference(reader.categories).size === 0) return reader;
    const after = reader?.end ?? position;
    end();
    reader = new Reader(eventStore, pace, wanted, after);
    return reader;
  };
  const forgetRead = () => {
    const [slowest] = [...followers].map(({ position }) => position).sort();
    if (slowest !== undefined) reader?.forget(slowest);
  };

  async function* follow<E extends Placed>(
    { of, read }: View<E>,
    { after, categories, signal, batchSize: limit = 500 }: SubscribeOptions,
  ): AsyncGenerator<LogPage<E>> {
    const follower = { position: after, categories };
    const take = (pages: readonly PageAsRead[], upTo: Position): LogPage<E> => {
      const events: E[] = [];
      const isWanted = inCategories(categories);
      for (const page of pages)
        for (const event of of(page)) {
          if (event.position <= follower.position || !isWanted(event)) continue;
          events.push(event);
          if (events.length === limit) return { events, next: event.position };
        }
      return { events, next: upTo };
    };
    /** Without the reader. */
    const readAlone = async (): Promise<LogPage<E>> => {
      const before = reader;
      const reached = before?.end;
      const page = await read({ after: follower.position, categories, limit });
      const isAtEnd = page.events.length < limit;
      if (isAtEnd) followers.add(follower);
      else followers.delete(follower);
      // The end of the log is before what was read of it: it was put back from an older copy.
      if (isAtEnd && reached !== undefined && page.next < reached && reader === before) end();
      return page;
    };
    try {
      while (!signal.aborted) {
        const shared = followers.has(follower) ? readerAt(follower.position) : undefined;
        let page: LogPage<E>;
        if (!shared || follower.position < shared.start) page = await readAlone();
        else if (follower.position < shared.end) page = take(shared.after(follower.position), shared.end);
        else if (await shared.more(signal)) continue;
        else return;
        if (signal.aborted) return;
        if (page.next <= follower.position) continue;
        follower.position = page.next;
        if (followers.has(follower)) forgetRead();
        yield page;
      }
    } finally {
      followers.delete(follower);
      if (followers.size === 0) end();
    }
  }

  return {
    subscribe: (options) =>
      follow({ of: ({ events }) => events, read: (part) => eventStore.readAll(part) }, options),
    subscribeStored: (options) =>
      follow({ of: (page) => page.texts(), read: (part) => eventStore.readStored(part) }, options),
  };
}

/** A subscription, with the newest pages that it gave. */
class Reader {
  readonly categories: ReadonlySet<string>;
  /** All events of the categories after `start`, up to `end`, are kept. */
  start: Position;
  end: Position;
  /** It has failed or ended. */
  isOver = false;
  readonly #stop = new AbortController();
  readonly #subscription: AsyncIterator<PageAsRead>;
  readonly #pages: PageAsRead[] = [];
  readonly #pace: SharedLogPace;
  #events = 0;
  #pulling: Promise<void> | undefined;
  #nextAt = 0;

  constructor(
    eventStore: Pick<EventStore, "subscribeAsRead">,
    pace: SharedLogPace,
    categories: ReadonlySet<string>,
    after: Position,
  ) {
    this.categories = categories;
    this.start = after;
    this.end = after;
    this.#pace = pace;
    const options = {
      after,
      categories: [...categories],
      signal: this.#stop.signal,
      batchSize: pace.pageEvents,
    };
    this.#subscription = eventStore.subscribeAsRead(options)[Symbol.asyncIterator]();
  }

  /**
   * Resolves when there is a page more, or the signal aborts, or another reader is wanted; to false when the subscription has
   * ended. @throws what it throws
   */
  async more(signal: AbortSignal): Promise<boolean> {
    this.#pulling ??= this.#pull().finally(() => {
      this.#pulling = undefined;
    });
    await settled(this.#pulling, signal);
    return !this.isOver || this.#stop.signal.aborted;
  }

  /** Those with events after the position. */
  after(position: Position): PageAsRead[] {
    return this.#pages.filter(({ next }) => next > position);
  }

  /** `upTo`: whatever is before it all followers have. */
  forget(upTo: Position): void {
    for (let [page] = this.#pages; page; [page] = this.#pages) {
      if (page.next > upTo && this.#events <= this.#pace.mostKept) return;
      this.#pages.shift();
      this.#events -= page.events.length;
      this.start = page.next;
    }
  }

  close(): void {
    this.#stop.abort();
    // What it throws after it was closed concerns nobody.
    Promise.resolve(this.#subscription.return?.()).catch(() => undefined);
  }

  async #pull(): Promise<void> {
    try {
      const restMs = this.#nextAt - performance.now();
      if (restMs > 0) await pause(restMs, this.#stop.signal);
      const { done, value } = await this.#subscription.next();
      if (done) this.isOver = true;
      else this.#keep(value);
    } catch (error) {
      this.isOver = true;
      if (!this.#stop.signal.aborted) throw error;
    }
  }

  #keep({ events, next, texts }: PageAsRead): void {
    this.end = next;
    const { pageEvents, gatherMs } = this.#pace;
    if (events.length < pageEvents) this.#nextAt = performance.now() + gatherMs;
    if (events.length === 0) return;
    let converted: StoredText[] | undefined;
    this.#pages.push({
      events,
      next,
      texts: () => {
        converted ??= texts();
        return converted;
      },
    });
    this.#events += events.length;
  }
}

/** Settles as the work does, or when the signal aborts. */
async function settled(work: Promise<void>, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onAbort = () => resolve();
  signal.addEventListener("abort", onAbort);
  work.then(resolve, reject);
  if (signal.aborted) resolve();
  await promise.finally(() => signal.removeEventListener("abort", onAbort));
}
