// What the fold of clicks does between commits, a step at a time: it marks withdrawn rows, merges chunks, closes days.
import { utcDate } from "../../../runtime/moment.ts";
import { timeSlices } from "../../../runtime/threads/time-slices.ts";
import type { EventStore, Position } from "../../../stores/event-store/port.ts";
import type { CollectionWrite, ReadStore } from "../../../stores/read-store/port.ts";
import { countHit, type LinkTotalsDocument, linkTotals } from "../../definitions/link-totals.ts";
import type { ClickFold } from "./click-fold.ts";
import { closeDays } from "./close-days.ts";
import { markWithdrawn, type PendingWithdrawal, totalsPosition } from "./mark-withdrawn.ts";
import { mergeChunks } from "./merge-chunks.ts";

/** After midnight, so that the last clicks of the day are there: later ones open it again. */
const OVER_AFTER_MS = 60_000;
/** A day that is over is closed after so long without a change, as an import or a journal changes it again and again. */
const QUIET_MS = 10_000;
/** How often days to close are looked for. */
const LOOK_MS = 30_000;
/** Of work, between which events are taken and committed. */
const STEP_MS = 10;

type ClickWorkState = {
  eventStore: Pick<EventStore, "read" | "readAll">;
  readStore: Pick<ReadStore, "find" | "getMany" | "get">;
  clock: () => Date;
  /** Monotonic milliseconds. */
  now: () => number;
  fold: ClickFold;
  /** What is stored, and nothing besides: no event has been taken since. */
  committed(): Position;
  /** As of ClickWorkDeps. */
  write(documents: readonly CollectionWrite[]): Promise<void>;
  /** Commits what is taken, if anything is. */
  commit(): Promise<void>;
  /** Commits the link's totals, with the withdrawals no longer pending. */
  settle(pending: readonly PendingWithdrawal[], documents: readonly CollectionWrite[]): Promise<void>;
};

type Work = { isClosing: boolean; steps: AsyncGenerator<void, void> };

export class ClickWork {
  readonly #state: ClickWorkState;
  /** When days that are over were changed last by this process, monotonic milliseconds. */
  readonly #changed = new Map<string, number>();
  #work: Work | undefined;
  #lookedAt = Number.NEGATIVE_INFINITY;

  constructor(state: ClickWorkState) {
    this.#state = state;
  }

  /** YYYY-MM-DD: days before it may be closed. */
  get overBefore(): string {
    return utcDate(new Date(this.#state.clock().getTime() - OVER_AFTER_MS));
  }

  /** Those that a commit has changed. */
  changed(ids: readonly string[]): void {
    const now = this.#state.now();
    for (const id of ids) this.#changed.set(id, now);
    for (const [id, at] of this.#changed) if (now - at > QUIET_MS) this.#changed.delete(id);
  }

  /** Milliseconds until it has something to do. */
  waitMs(pending: readonly PendingWithdrawal[]): number {
    if (this.#work || pending.length > 0 || this.#state.fold.crowded.size > 0) return 0;
    return Math.max(0, this.#lookedAt + LOOK_MS - this.#state.now());
  }

  /** For some milliseconds. `isLast`: all that is over is closed, however soon after its last change. */
  async step(pending: readonly PendingWithdrawal[], isLast: boolean): Promise<void> {
    // A withdrawal waits for nothing; closing begins again after it.
    if (pending.length > 0 && this.#work?.isClosing) await this.#end();
    this.#work ??= this.#next(pending, isLast);
    const slices = timeSlices();
    while (this.#work) {
      const { done } = await this.#work.steps.next();
      if (done) this.#work = undefined;
      if (done || slices.workedMs() > STEP_MS) return;
    }
  }

  /** Whether nothing is left to be done at the end of the log. */
  isDone(pending: readonly PendingWithdrawal[]): boolean {
    return !this.#work && pending.length === 0 && this.#isClosed;
  }
  #isClosed = false;

  async #end(): Promise<void> {
    await this.#work?.steps.return();
    this.#work = undefined;
    this.#lookedAt = Number.NEGATIVE_INFINITY;
  }

  #next(pending: readonly PendingWithdrawal[], isLast: boolean): Work | undefined {
    const { fold } = this.#state;
    const [first] = pending;
    if (first)
      return { isClosing: false, steps: this.#mark(pending.filter(({ link }) => link === first.link)) };
    const [crowded] = fold.crowded;
    if (crowded) return { isClosing: false, steps: this.#merge(...crowded) };
    this.#lookedAt = this.#state.now();
    return { isClosing: true, steps: this.#close(isLast) };
  }

  async *#mark(pending: readonly PendingWithdrawal[]): AsyncGenerator<void, void> {
    const { eventStore, readStore, write, fold } = this.#state;
    const link = pending[0]?.link ?? "";
    await this.#state.commit();
    const asOf = this.#state.committed();
    const later = fold.watch(link);
    try {
      const onMarked = (id: string) => fold.forgetTail(id);
      const deps = { eventStore, readStore, write, asOf, onMarked };
      const totals = yield* markWithdrawn(deps, link, pending);
      await this.#state.commit();
      const stored = await readStore.get<LinkTotalsDocument>(linkTotals.name, link);
      if (!totals || !stored) return await this.#state.settle(pending, []);
      for (const hit of later) countHit(totals, hit);
      const document = { ...totals, _id: link, _position: totalsPosition(stored, pending) };
      const replaced = new Map([[link, stored._position]]);
      await this.#state.settle(pending, [{ collection: linkTotals.name, documents: [document], replaced }]);
      fold.forgetTotals(link);
    } finally {
      fold.unwatch(link);
    }
  }

  async *#merge(id: string, of: { accountId: string; day: string }): AsyncGenerator<void, void> {
    const { readStore, write, fold } = this.#state;
    yield* mergeChunks({ readStore, write }, of);
    fold.merged(id);
  }

  async *#close(isLast: boolean): AsyncGenerator<void, void> {
    const { readStore, write, fold, now } = this.#state;
    const isBusy = (id: string) =>
      !isLast && now() - (this.#changed.get(id) ?? Number.NEGATIVE_INFINITY) < QUIET_MS;
    const onClosed = (id: string) => fold.closed(id);
    const before = this.overBefore;
    // After a crash tables may have rows behind the checkpoint. They are taken again by now.
    await this.#state.commit();
    yield* closeDays({
      ...{ readStore, write },
      asOf: this.#state.committed(),
      before,
      isBusy,
      onClosed,
    });
    if (isLast) this.#isClosed = true;
  }
}
