// Runs projections: reads batches, folds each projection, writes documents, then its checkpoint; owns every retry.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { Logger } from "pino";
import { type NextEvent, nextEventFinder } from "../../event-store/next-event.ts";
import type { EventStore, RecordedEvent } from "../../event-store/port.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { keepRunning } from "../../runtime/keep-trying.ts";
import type { Projection } from "../projection.ts";
import { commitBatches } from "./commit-batches.ts";
import { ProjectionProcessor } from "./projection-processor.ts";
import { type ProjectionStatus, prefixesOf, statusOf } from "./status.ts";

export type RunnerLog = Pick<Logger, "info" | "warn" | "error">;

export type RunnerDeps = {
  eventStore: EventStore;
  /** The store itself, where every build has its own collection and checkpoint, not its active view. */
  readStore: ReadStore;
  /** Each as one of its builds; without a number as its first. */
  projections: readonly Projection[];
  clock: () => Date;
  log: RunnerLog;
  /** Milliseconds from one commit to the next while events keep coming; default 500. */
  commitEveryMs?: number;
  /** Most events folded before one commit; default 40,000. */
  mostEvents?: number;
  /** [0, 1), for the jitter of retries. */
  random?: () => number;
};

/** A click is seen within a second, its commit included; a hot document is written twice a second at most. */
const COMMIT_EVERY_MS = 500;
const MOST_EVENTS = 40_000;
const RETRY = { fromMs: 250, toMs: 15_000 };

/**
 * One ordered pass over the events for a group of projections. Guarded writes make it harmless that several
 * runners, also of other processes, fold the same events at once.
 */
export class ProjectionRunner {
  readonly #deps: RunnerDeps;
  readonly #prefixes: readonly string[];
  readonly #next: NextEvent;
  readonly #processors: readonly ProjectionProcessor[];

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    this.#prefixes = prefixesOf(deps.projections);
    this.#next = nextEventFinder(deps.eventStore, this.#prefixes);
    this.#processors = deps.projections.map(
      (projection) => new ProjectionProcessor(projection, deps.readStore),
    );
  }

  /**
   * Folds all events up to the head as of this call, or until the signal aborts. `passed`: called after each commit with
   * the number of its events. @throws what the stores and `passed` throw
   */
  async catchUp(
    passed: (events: number) => Promise<void> = async () => undefined,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#start();
    const head = await this.#deps.eventStore.head();
    if (head === undefined) return;
    while (!signal?.aborted) {
      const after = this.#lowest();
      if (this.#allFaulted() || (after !== undefined && after >= head)) return;
      const events = await this.#deps.eventStore.readAll({
        after,
        prefixes: this.#prefixes,
        limit: this.#mostEvents,
      });
      const last = events.at(-1);
      if (!last) return;
      await this.#commit(events);
      await passed(events.length);
      if (last.position >= head) return;
      await yieldToLoop();
    }
  }

  /** Folds for ever, through every failure of the stores, until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, random = Math.random } = this.#deps;
    const onFailure = (err: unknown, retryInMs: number) =>
      log.warn({ err, retryInMs }, "projections interrupted, retrying");
    const fold = async (committed: () => void) => {
      await this.#start();
      await this.#follow(signal, committed);
    };
    await keepRunning({ ...RETRY, random, onFailure }, fold, signal);
  }

  /** Per projection how far it is. @throws what the stores throw */
  async status(): Promise<ProjectionStatus[]> {
    const processors = this.#processors.map(({ projection, processed }) => ({ projection, processed }));
    return statusOf(this.#deps, processors, this.#next);
  }

  /** Events passed since it was made, by checkpoint name. */
  processed(): [checkpoint: string, events: number][] {
    return this.#processors.map(({ name, processed }) => [name, processed]);
  }

  /** From the committed checkpoints, with nothing in memory: what a restarted process would do. */
  async #start(): Promise<void> {
    const { readStore, projections } = this.#deps;
    await readStore.ensure(projections.map(({ collection }) => collection));
    for (const processor of this.#processors) await processor.restart();
  }

  async #follow(signal: AbortSignal, committed: () => void): Promise<void> {
    const { eventStore } = this.#deps;
    const mostEvents = this.#mostEvents;
    const options = { after: this.#lowest(), prefixes: this.#prefixes, batchSize: mostEvents };
    const rules = { mostEvents, everyMs: this.#deps.commitEveryMs ?? COMMIT_EVERY_MS };
    const subscribe = (until: AbortSignal) => eventStore.subscribe({ ...options, signal: until });
    for await (const events of commitBatches(subscribe, rules, signal)) {
      if (signal.aborted) return;
      await this.#commit(events);
      committed();
      if (this.#allFaulted()) return await untilAborted(signal);
      await yieldToLoop();
      if (signal.aborted) return;
    }
  }

  async #commit(events: readonly RecordedEvent[]): Promise<void> {
    const active = this.#processors.filter((processor) => !processor.faulted);
    const after = active.reduce<string | undefined>((low, { position }) => {
      return low === undefined || position < low ? position : low;
    }, undefined);
    const fresh = events.filter(({ position }) => position > (after ?? ""));
    const batch = ProjectionProcessor.read(fresh);
    for (const processor of active) {
      const fault = await processor.advance(batch);
      if (fault) this.#deps.log.error({ projection: processor.name, ...fault }, "projection faulted");
      // On SQLite nothing else does: the thread could not tell its status during a commit of many seconds.
      await yieldToLoop();
    }
  }

  get #mostEvents(): number {
    return this.#deps.mostEvents ?? MOST_EVENTS;
  }

  #allFaulted(): boolean {
    return this.#processors.every(({ faulted }) => faulted);
  }

  /** Where to read from: behind the slowest projection that still goes on. */
  #lowest(): string | undefined {
    const positions = this.#processors.filter(({ faulted }) => !faulted).map(({ position }) => position);
    return positions.sort()[0] || undefined;
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
