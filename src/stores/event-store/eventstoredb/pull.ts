// Takes events out of a call of the client by pulling, so that order, backpressure and errors stay with the consumer.
import { setImmediate as nextTurn } from "node:timers/promises";
import type { AllStreamSubscription, ResolvedEvent, StreamingRead } from "@eventstore/db-client";
import type { Position, RecordedEvent } from "../port.ts";
import { NoAnswer, readError } from "./errors.ts";

export type Placed = Pick<RecordedEvent, "stream" | "position">;

/** `T`: what becomes of an event. */
export type PullOptions<T extends Placed> = {
  read(event: ResolvedEvent): T;
  /** Longest silence. */
  idleMs: number;
  /** Whether after it there are events that should have come after `last`; without it the call counts as stuck. */
  isStuck?: (last: Position | undefined) => Promise<boolean>;
  batchSize?: number;
  signal?: AbortSignal;
  /** Of the log: only events after `after`, so that none that the server sends again is taken twice. */
  log?: { after: Position | undefined; isWanted(event: T): boolean; untilCaughtUp: boolean };
};

/** Emitted by a subscription at a checkpoint of the server. */
export const ALIVE = "alive";

/**
 * The events of one call in batches. Its first error is thrown after what came before it; a clean end, or an abort, ends
 * them. To be called in the tick in which the call was made: an `error` without a listener ends the process.
 */
export function batchesOf<T extends Placed>(
  source: AllStreamSubscription | StreamingRead<ResolvedEvent>,
  options: PullOptions<T>,
): AsyncGenerator<T[]> {
  const { idleMs, log, signal, batchSize = Number.POSITIVE_INFINITY } = options;
  let failure: { error: unknown } | undefined;
  let isOver = false;
  let last = log?.after;
  let wake = (_isAlive: boolean) => {};
  const over = () => {
    isOver = true;
    wake(true);
  };
  source.on("error", (error) => {
    failure ??= { error: readError(error) };
    wake(true);
  });
  for (const name of ["readable", ALIVE]) source.on(name, () => wake(true));
  // `caughtUp` comes before the events in front of it are taken, and counts when nothing more is there.
  for (const name of ["end", "close", ...(log?.untilCaughtUp ? ["caughtUp"] : [])]) source.on(name, over);

  function take(): T[] {
    const batch: T[] = [];
    while (batch.length < batchSize) {
      const next = source.read() as ResolvedEvent | null;
      if (next === null) break;
      const event = options.read(next);
      if (log && (event.position <= (last ?? "") || !log.isWanted(event))) continue;
      last = event.position;
      batch.push(event);
    }
    return batch;
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
        const batch = take();
        if (batch.length > 0) yield batch;
        else if (failure) throw failure.error;
        else if (isOver) return;
        // One turn of the event loop: what comes over the wire with the first event goes into the same batch.
        else if (await woken()) await nextTurn();
        else {
          const isStuck = (await options.isStuck?.(last)) ?? true;
          const late = take();
          if (late.length > 0) yield late;
          else if (isStuck) throw new NoAnswer(idleMs);
        }
      }
    } finally {
      await ("unsubscribe" in source ? source.unsubscribe() : source.cancel()).catch(() => undefined);
      source.destroy();
    }
  }
  return pulled();
}

/** Rejects with NoAnswer after `ms`; the work continues, and its later failure is ignored. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const timer = setTimeout(() => reject(new NoAnswer(ms)), ms);
  return await Promise.race([work, promise]).finally(() => clearTimeout(timer));
}
