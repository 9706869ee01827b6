// Runs projections: reads event batches, has each projection's processor fold and commit them, and retries failures.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { Logger } from "pino";
import { type NextEvent, nextEventFinder } from "../../event-store/next-event.ts";
import type { EventStore, Position, RecordedEvent } from "../../event-store/port.ts";
import type { ReadStore } from "../../read-store/port.ts";
import { keepRunning } from "../../runtime/keep-trying.ts";
import { untilAborted } from "../../runtime/pause.ts";
import { collectionsOf, type Projection } from "../projection.ts";
import { COMMIT_RULES, commitBatches } from "./commit-batches.ts";
import { commitAtOnce, commitInSlices } from "./commit-changes.ts";
import { correct, isCorrection, partsAtCorrections } from "./corrected-clicks.ts";
import type { DocumentCorrection } from "./document-correction.ts";
import { between, type EventBatch, parseBatch } from "./event-batch.ts";
import { ProjectionProcessor } from "./projection-processor.ts";
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
  /** Shortest time between two commits, except during a backlog; default 300. */
  commitIntervalMs?: number;
  /** Maximum of events that are folded at a time; default 40,000, in `catchUp` 20,000. */
  maxEvents?: number;
  /** Of changed documents that `catchUp` keeps in memory; default 512 MB. */
  maxUncommittedBytes?: number;
  /** Of those that `run` keeps during a backlog; default 128 MB. With 0 it commits after each fold. */
  maxLiveBytes?: number;
  /** [0, 1), for the jitter of retries. */
  random?: () => number;
};

/** Events that are decoded at a time: several of them change the same document, which then costs less for each. */
const CATCH_UP_EVENTS = 20_000;
const MAX_UNCOMMITTED_BYTES = 512 * 2 ** 20;
/** Bounds what a crash repeats. */
const KEPT_MS = 60_000;
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
   * Folds all events up to the head as of this call. Changed documents are kept in memory until they take 512 MB or a
   * minute is over, so that each is written as rarely as possible; when the signal aborts, what is not committed is
   * dropped. `onBatch`: called with the number of events of each batch and the position that is reached in memory.
   * @throws what the stores and `onBatch` throw
   */
  async catchUp(
    onBatch: (events: number, position: Position) => Promise<void> = async () => undefined,
    signal?: AbortSignal,
  ): Promise<void> {
    await this.#start();
    const head = await this.#deps.eventStore.head();
    if (head === undefined) return;
    const maxBytes = this.#deps.maxUncommittedBytes ?? MAX_UNCOMMITTED_BYTES;
    let keepsChanges = true;
    let committedAt = performance.now();
    while (!signal?.aborted) {
      const after = this.#lowest();
      if (this.#allFaulted() || (after !== undefined && after >= head)) break;
      const events = await this.#deps.eventStore.readAll({
        after,
        prefixes: this.#prefixes,
        limit: Math.min(this.#maxEvents, CATCH_UP_EVENTS),
      });
      const last = events.at(-1);
      if (!last) break;
      if (!(await this.#foldParts(events, keepsChanges ? undefined : commitInSlices))) {
        keepsChanges = false;
        for (const processor of this.#processors) await processor.restart();
        continue;
      }
      const isDue = this.#uncommittedBytes() >= maxBytes || performance.now() - committedAt >= KEPT_MS;
      const isLast = last.position >= head;
      if (isDue || isLast || !keepsChanges) {
        await commitInSlices(this.#deps, this.#processors);
        committedAt = performance.now();
      }
      await onBatch(events.length, this.#lowest() ?? last.position);
      if (isLast) return;
      await yieldToLoop();
    }
    if (!signal?.aborted) await commitInSlices(this.#deps, this.#processors);
  }

  /** Folds until the signal aborts; retries with backoff when a store fails. */
  async run(signal: AbortSignal): Promise<void> {
    const { log, random = Math.random } = this.#deps;
    const onFailure = (err: unknown, retryInMs: number) =>
      log.warn({ err, retryInMs }, "projections interrupted, retrying");
    let keepsChanges = true;
    const fold = async (onCommit: () => void) => {
      await this.#start();
      if (await this.#follow(signal, onCommit, keepsChanges)) return;
      keepsChanges = false;
      throw new Error("an event can't be folded with those before it, so each batch is committed");
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
    await readStore.ensure(projections.flatMap(collectionsOf));
    for (const processor of this.#processors) await processor.restart();
  }

  /** False when an event can't be folded together with those before it: then each batch has to be committed. */
  async #follow(signal: AbortSignal, onCommit: () => void, keepsChanges: boolean): Promise<boolean> {
    const {
      eventStore,
      commitIntervalMs = COMMIT_RULES.intervalMs,
      maxLiveBytes = COMMIT_RULES.maxBytes,
    } = this.#deps;
    const maxEvents = this.#maxEvents;
    const options = { after: this.#lowest(), prefixes: this.#prefixes, batchSize: maxEvents };
    const rules = { maxEvents, intervalMs: commitIntervalMs, maxBytes: keepsChanges ? maxLiveBytes : 0 };
    const subscribe = (until: AbortSignal) => eventStore.subscribe({ ...options, signal: until });
    for await (const step of commitBatches(subscribe, rules, () => this.#uncommittedBytes(), signal)) {
      if (signal.aborted) return true;
      if (step !== "commit") {
        if (!(await this.#foldParts(step, keepsChanges ? undefined : commitAtOnce))) return false;
        continue;
      }
      await commitAtOnce(this.#deps, this.#processors);
      onCommit();
      if (this.#allFaulted()) {
        await untilAborted(signal);
        return true;
      }
      await yieldToLoop();
      if (signal.aborted) return true;
    }
    return true;
  }

  /** `commit`: for each part, where no changes are kept. False as `fold` of a processor is. */
  async #foldParts(events: readonly RecordedEvent[], commit?: typeof commitAtOnce): Promise<boolean> {
    for (const part of partsAtCorrections(events)) {
      if (!(await this.#fold(part))) return false;
      await commit?.(this.#deps, this.#processors);
    }
    return true;
  }

  /** One part of a batch (`partsAtCorrections`). False as `fold` of a processor is. */
  async #fold(events: readonly RecordedEvent[]): Promise<boolean> {
    const batch = parseBatch(between(events, this.#lowest() ?? "", undefined));
    const corrections = await this.#correct(batch);
    for (const processor of this.#processors) {
      if (!processor.faulted && !(await processor.fold(batch, corrections.get(processor)))) return false;
      // Folding is synchronous: without this the thread would not report its status during a long commit.
      await yieldToLoop();
    }
    return true;
  }

  /** What a withdrawal of clicks makes of each projection's documents; nothing for other events. */
  async #correct({ events: [event] }: EventBatch): Promise<Map<ProjectionProcessor, DocumentCorrection>> {
    const corrections = new Map<ProjectionProcessor, DocumentCorrection>();
    if (!event || !isCorrection(event)) return corrections;
    for (const processor of this.#processors) {
      const correction = processor.correction(event);
      if (correction) corrections.set(processor, correction);
    }
    await correct(this.#deps, event, [...corrections.values()]);
    return corrections;
  }

  get #maxEvents(): number {
    return this.#deps.maxEvents ?? COMMIT_RULES.maxEvents;
  }

  #uncommittedBytes(): number {
    return this.#processors.reduce((sum, { uncommittedBytes }) => sum + uncommittedBytes, 0);
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
