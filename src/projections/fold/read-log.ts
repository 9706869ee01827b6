// Reads the log for a fold: page by page up to its end, and from there on what is appended.
import { inTime, type MonotonicClock } from "../../runtime/pause.ts";
import type { EventStore, LogPage, Position } from "../../stores/event-store/port.ts";

export type LogReading = {
  after: Position;
  categories: readonly string[];
  pageEvents: number;
  signal: AbortSignal;
};

/** `isAtEnd`: whether the end of the log was reached, so that `next` waits for what is appended. */
export type LogSource = {
  /** What comes next; undefined when nothing comes within `ms`. @throws what the store throws */
  next(ms: number): Promise<LogPage | undefined>;
  readonly isAtEnd: boolean;
  close(): Promise<void>;
};

export function readLog(
  {
    eventStore,
    sleep,
  }: { eventStore: Pick<EventStore, "readAll" | "subscribe"> } & Pick<MonotonicClock, "sleep">,
  { after, categories, pageEvents, signal }: LogReading,
): LogSource {
  const left = new AbortController();
  const until = AbortSignal.any([signal, left.signal]);
  let last = after;
  let isAtEnd = false;
  let following: AsyncIterator<LogPage> | undefined;
  let pending: Promise<IteratorResult<LogPage>> | undefined;

  const follow = () => {
    const options = { after: last, categories, batchSize: pageEvents, signal: until };
    following ??= eventStore.subscribe(options)[Symbol.asyncIterator]();
    return following;
  };
  return {
    get isAtEnd() {
      return isAtEnd;
    },
    async next(ms) {
      if (!isAtEnd) {
        const page = await eventStore.readAll({ after: last, categories, limit: pageEvents });
        last = page.next;
        isAtEnd = page.events.length === 0;
        return page;
      }
      if (!pending) {
        pending = follow().next();
        // Of one that is no longer awaited; who awaits it still gets the rejection.
        pending.catch(() => undefined);
      }
      const pulled = await inTime(ms, pending, sleep);
      if (!pulled) return undefined;
      pending = undefined;
      if (pulled.done && !until.aborted) throw new Error("the subscription ended");
      return pulled.done ? undefined : pulled.value;
    },
    async close() {
      // Otherwise a pull in flight keeps the subscription open until the next event.
      left.abort();
      await following?.return?.();
    },
  };
}
