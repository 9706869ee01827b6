// Reads the log for who goes on at its end, and does other work while nothing comes.
import { inTime, type Sleep } from "../../runtime/pause.ts";
import type { LogPage, Position, RecordedEvent } from "./port.ts";

export type PageSource<E = RecordedEvent> = {
  /** What comes next; undefined when nothing comes within `ms`. @throws what the store throws */
  next(ms: number): Promise<LogPage<E> | undefined>;
  close(): Promise<void>;
};

/** `isAtEnd`: whether the end of the log was reached, so that `next` waits for what is appended. */
export type LogSource = PageSource & { readonly isAtEnd: boolean };

/** `follow`: a subscription, which ends when its signal aborts. */
export function pageSource<E>(
  follow: (signal: AbortSignal) => AsyncIterable<LogPage<E>>,
  { signal, sleep }: { signal: AbortSignal; sleep: Sleep },
): PageSource<E> {
  const left = new AbortController();
  const until = AbortSignal.any([signal, left.signal]);
  let following: AsyncIterator<LogPage<E>> | undefined;
  let pending: Promise<IteratorResult<LogPage<E>>> | undefined;
  return {
    async next(ms) {
      if (!pending) {
        following ??= follow(until)[Symbol.asyncIterator]();
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

/** Page by page to the end of the log, and from there on by a subscription. `read`: a page of those after the position. */
export function logSource(
  read: (after: Position) => Promise<LogPage>,
  follow: (after: Position, signal: AbortSignal) => AsyncIterable<LogPage>,
  { after, ...options }: { after: Position; signal: AbortSignal; sleep: Sleep },
): LogSource {
  let last = after;
  let isAtEnd = false;
  const following = pageSource((signal) => follow(last, signal), options);
  return {
    get isAtEnd() {
      return isAtEnd;
    },
    async next(ms) {
      if (isAtEnd) return await following.next(ms);
      const page = await read(last);
      last = page.next;
      isAtEnd = page.events.length === 0;
      return page;
    },
    close: following.close,
  };
}
