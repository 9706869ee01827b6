// Runs projections: reads event batches, has each projection's processor fold and commit them, and retries failures.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { Logger } from "pino";
import { type NextEvent, nextEventFinder } from "../../event-store/next-event.ts";
import type { EventStore, RecordedEvent } from "../../event-store/port.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { keepRunning } from "../../runtime/keep-trying.ts";
import { untilAborted } from "../../runtime/pause.ts";
import type { Projection } from "../projection.ts";
import { commitBatches } from "./commit-batches.ts";
import { between, parseBatch } from "./event-batch.ts";
import { type FoldedBatch, ProjectionProcessor } from "./projection-processor.ts";
import { type ProjectionStatus, prefixesOf, statusOf } from "./status.ts";

export type RunnerLog = Pick<Logger, "info" | "warn" | "error">;

export type RunnerDeps = {
  eventStore: EventStore;
  /** The unmapped store, where every build has its own collection and checkpoint; not activeReadStore. */
  readStore: ReadStore;
  /** Each with the build that is to be folded; build 0 when it has no number. */
  projections: readonly Projection[];
  clock: () => Date;
  log: RunnerLog;
  /** Shortest time between two commits, except during a backlog; default 500. */
  commitIntervalMs?: number;
  /** Maximum of events for each commit; default 40,000. */
  maxEvents?: number;
  /** [0, 1), for the jitter of retries. */
  random?: () => number;
};

/** Clicks show within a second, commit included, and a document that changes all the time is written twice a second. */
const COMMIT_INTERVAL_MS = 500;
const MAX_EVENTS = 40_000;
const RETRY = { fromMs: 250, toMs: 15_000 };

/**
 * Reads the events once for a group of projections. Several runners may fold the same events concurrently, also in other
 * processes: a write with a lower `_position` than the stored one is ignored.
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
   * Folds all events up to the head as of this call, or until the signal aborts. `onCommit`: called after each commit
   * with the number of its events. @throws what the stores and `onCommit` throw
   */
  async catchUp(
    onCommit: (events: number) => Promise<void> = async () => undefined,
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
        limit: this.#maxEvents,
      });
      const last = events.at(-1);
      if (!last) return;
      await this.#commit(events);
      await onCommit(events.length);
      if (last.position >= head) return;
      await yieldToLoop();
    }
  }

  /** Folds until the signal aborts; retries with backoff when a store fails. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, random = Math.random } = this.#deps;
    const onFailure = (err: unknown, retryInMs: number) =>
      log.warn({ err, retryInMs }, "projections interrupted, retrying");
    const fold = async (onCommit: () => void) => {
      await this.#start();
      await this.#follow(signal, onCommit);
    };
    await keepRunning({ ...RETRY, random, onFailure }, fold, signal);
  }

  /** Position and lag of each projection. @throws what the stores throw */
  async status(): Promise<ProjectionStatus[]> {
    const processors = this.#processors.map(({ projection, processed }) => ({ projection, processed }));
    return statusOf(this.#deps, processors, this.#next);
  }

  /** Events passed since the runner was created, by checkpoint name. */
  processed(): [checkpoint: string, events: number][] {
    return this.#processors.map(({ name, processed }) => [name, processed]);
  }

  /** Loads the committed checkpoints and clears caches, as a restarted process would. */
  async #start(): Promise<void> {
    const { readStore, projections } = this.#deps;
    await readStore.ensure(projections.map(({ collection }) => collection));
    for (const processor of this.#processors) await processor.restart();
  }

  async #follow(signal: AbortSignal, onCommit: () => void): Promise<void> {
    const { eventStore } = this.#deps;
    const maxEvents = this.#maxEvents;
    const options = { after: this.#lowest(), prefixes: this.#prefixes, batchSize: maxEvents };
    const rules = { maxEvents, intervalMs: this.#deps.commitIntervalMs ?? COMMIT_INTERVAL_MS };
    const subscribe = (until: AbortSignal) => eventStore.subscribe({ ...options, signal: until });
    for await (const events of commitBatches(subscribe, rules, signal)) {
      if (signal.aborted) return;
      await this.#commit(events);
      onCommit();
      if (this.#allFaulted()) return await untilAborted(signal);
      await yieldToLoop();
      if (signal.aborted) return;
    }
  }

  /** All projections in one commit: a transaction less for each, where the store has transactions. */
  async #commit(events: readonly RecordedEvent[]): Promise<void> {
    const active = this.#processors.filter((processor) => !processor.faulted);
    const batch = parseBatch(between(events, this.#lowest() ?? "", undefined));
    const folded: { processor: ProjectionProcessor; result: FoldedBatch }[] = [];
    for (const processor of active) {
      const result = await processor.fold(batch);
      if (result) folded.push({ processor, result });
      // Folding is synchronous: without this the thread would not report its status during a long commit.
      await yieldToLoop();
    }
    await this.#deps.readStore.commit({
      changed: folded.map(({ processor, result }) => ({
        collection: processor.projection.collection.name,
        documents: result.documents,
      })),
      checkpoints: Object.fromEntries(
        folded.map(({ processor, result }) => [processor.name, result.checkpoint]),
      ),
    });
    for (const { processor, result } of folded) {
      processor.committed(result);
      if (processor.fault)
        this.#deps.log.error({ projection: processor.name, ...processor.fault }, "projection faulted");
    }
  }

  get #maxEvents(): number {
    return this.#deps.maxEvents ?? MAX_EVENTS;
  }

  #allFaulted(): boolean {
    return this.#processors.every(({ faulted }) => faulted);
  }

  /** Where to read from: the lowest position of the projections that are not faulted. */
  #lowest(): string | undefined {
    const positions = this.#processors.filter(({ faulted }) => !faulted).map(({ position }) => position);
    return positions.sort()[0] || undefined;
  }
}
