// Takes events out of a call of the client by pulling, so that order, backpressure and errors stay with the consumer.
import type { EventEmitter } from "node:events";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { AllStreamSubscription, ResolvedEvent, StreamingRead } from "@eventstore/db-client";
import { type LogPage, type Position, type RecordedEvent, START } from "../port.ts";
import { NoAnswer, readError } from "./errors.ts";

export type Placed = Pick<RecordedEvent, "stream" | "position">;

/** `T`: what becomes of an event. */
export type PullOptions<T extends Placed> = {
  read(event: ResolvedEvent): T;
  /** Longest silence. */
  idleMs: number;
  batchSize?: number;
  signal?: AbortSignal;
  log?: PartOfLog<T>;
};

/**
 * Only events after `after`, so that none that the server sends again is taken twice. `head`: of the log before the call was
 * made. `isQuiet`: whether silence is right, as nothing stands after this position; otherwise it ends the call.
 */
export type PartOfLog<T extends Placed> = {
  after: Position;
  head: Position;
  isWanted(event: T): boolean;
  untilCaughtUp: boolean;
  isQuiet?: (next: Position) => Promise<boolean>;
};

/** `sources`: of each event, as the client gave it. */
export type PulledPage<T> = LogPage<T> & { sources: ResolvedEvent[] };

/** Emitted by a subscription, with the position, where the server says up to where it looked. */
export const CHECKPOINT = "looked up to";

/**
 * The events of one call, page by page. Its first error is thrown after what came before it; a clean end, or an abort, ends
 * them. To be called in the tick in which the call was made: an `error` without a listener ends the process.
 */
export function pagesOf<T extends Placed>(
  source: AllStreamSubscription | StreamingRead<ResolvedEvent>,
  options: PullOptions<T>,
): AsyncGenerator<PulledPage<T>> {
  const { idleMs, log, signal, batchSize = Number.POSITIVE_INFINITY } = options;
  let failure: { error: unknown } | undefined;
  let isOver = false;
  /** Of the last event that was taken, and up to where the pages before say that the log was looked through. */
  let [last, next] = [log?.after ?? START, log?.after ?? START];
  /** As the server says: it is so once all is taken that came before it. */
  let looked = START;
  let wake = (_isAlive: boolean) => {};
  const lookedUpTo = (position: Position) => {
    if (position > looked) looked = position;
    wake(true);
  };
  const over = () => {
    isOver = true;
    wake(true);
  };
  source.on("error", (error) => {
    failure ??= { error: readError(error) };
    wake(true);
  });
  source.on("readable", () => wake(true));
  (source as EventEmitter).on(CHECKPOINT, lookedUpTo);
  for (const name of ["end", "close"]) source.on(name, over);
  if (log)
    source.on("caughtUp", () => {
      lookedUpTo(log.head);
      // It comes before the events in front of it are taken.
      if (log.untilCaughtUp) over();
    });

  function take() {
    const events: T[] = [];
    const sources: ResolvedEvent[] = [];
    while (events.length < batchSize) {
      const resolved = source.read() as ResolvedEvent | null;
      if (resolved === null) break;
      const event = options.read(resolved);
      if (log && (event.position <= last || !log.isWanted(event))) continue;
      last = event.position;
      events.push(event);
      sources.push(resolved);
    }
    return { events, sources };
  }

  /** False when nothing came in time. */
  async function woken(): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const timer = setTimeout(() => resolve(false), idleMs);
    wake = resolve;
    signal?.addEventListener("abort", over);
    return await promise.finally(() => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", over);
    });
  }

  async function* pulled() {
    try {
      while (!signal?.aborted) {
        const { events, sources } = take();
        if (last > next) next = last;
        if (events.length > 0) yield { events, sources, next };
        else if (failure) throw failure.error;
        else if (looked > next) {
          next = looked;
          yield { events, sources, next };
        } else if (isOver) return;
        // One turn of the event loop: what comes over the wire with the first event goes into the same page.
        else if (await woken()) await nextTurn();
        else if (!log?.isQuiet) throw new NoAnswer(idleMs);
        else if (!(await log.isQuiet(next))) over();
      }
    } finally {
      await ("unsubscribe" in source ? source.unsubscribe() : source.cancel()).catch(() => undefined);
      source.destroy();
    }
  }
  return pulled();
}
