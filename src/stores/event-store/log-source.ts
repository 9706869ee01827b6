// Reads the log for who goes on at its end: page by page up to there, and from there on what is appended.
import { inTime, type MonotonicClock } from "../../runtime/pause.ts";
import type { LogPage, Position, RecordedEvent } from "./port.ts";

/** `read`: a page of those after the position; `follow`: a subscription. */
type LogSourceDeps<E> = Pick<MonotonicClock, "sleep"> & {
  read(after: Position): Promise<LogPage<E>>;
  follow(after: Position, signal: AbortSignal): AsyncIterable<LogPage<E>>;
};

/** `isAtEnd`: whether the end of the log was reached, so that `next` waits for what is appended. */
export type LogSource<E = RecordedEvent> = {
  /** What comes next; undefined when nothing comes within `ms`. @throws what the store throws */
  next(ms: number): Promise<LogPage<E> | undefined>;
  readonly isAtEnd: boolean;
  close(): Promise<void>;
};

export function logSource<E>(
  { read, follow, sleep }: LogSourceDeps<E>,
  { after, signal }: { after: Position; signal: AbortSignal },
): LogSource<E> {
  const left = new AbortController();
  const until = AbortSignal.any([signal, left.signal]);
  let last = after;
  let isAtEnd = false;
  let following: AsyncIterator<LogPage<E>> | undefined;
  let pending: Promise<IteratorResult<LogPage<E>>> | undefined;
  return {
    get isAtEnd() {
      return isAtEnd;
    },
    async next(ms) {
      if (!isAtEnd) {
        const page = await read(last);
        last = page.next;
        isAtEnd = page.events.length === 0;
        return page;
      }
      if (!pending) {
        following ??= follow(last, until)[Symbol.asyncIterator]();
        pending = following.next();
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
