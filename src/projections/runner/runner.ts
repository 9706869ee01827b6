// Runs projections: reads event batches, has each projection's processor fold and commit them, and retries failures.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import { keepRunning } from "../../runtime/keep-trying.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { untilAborted } from "../../runtime/pause.ts";
import { whatToDo } from "../../stores/connections/errors.ts";
import type { EventStore, Position, RecordedEvent } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { setAsideCollection } from "../../stores/read-store/set-aside.ts";
import { categoriesOf, collectionsOf, type Projection } from "../projection.ts";
import { COMMIT_RULES, type CommitRules, commitBatches } from "./commit-batches.ts";
import { addTo, commitLast, commitTaken } from "./commit-changes.ts";
import { type Correction, correct, isCorrection, partsAtCorrections } from "./corrected-clicks.ts";
import { parseBatch } from "./event-batch.ts";
import { ProjectionProcessor } from "./projection-processor.ts";

/** Commit rules that are absent are COMMIT_RULES; while it catches up, 50,000 events are committed together. */
export type RunnerDeps = Partial<CommitRules> & {
  eventStore: EventStore;
  /** The unmapped store, where every build has its own collection and checkpoint; not activeReadStore. */
  readStore: ReadStore;
  /** Each with the build that is to be folded; build 0 when it has no number. */
  projections: readonly Projection[];
  log: BasicLogger;
};

/** Each document is written once for all of them: more than of a backlog, as nobody waits for a build. */
const CATCH_UP_EVENTS = 50_000;
/** At most two seconds: counts go on soon after a disk has space again. */
const RETRY = { fromMs: 250, toMs: 2_000, random: Math.random };

/**
 * Reads the events once for a group of projections. Several runners may fold the same events concurrently, also in other
 * processes: a write with a lower `_position` than the stored one is ignored.
 */
export class ProjectionRunner {
  readonly #deps: RunnerDeps;
  readonly #rules: CommitRules;
  readonly #categories: readonly string[];
  readonly #processors: readonly ProjectionProcessor[];
  #failure: string | undefined;

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    this.#rules = rulesOf(deps);
    this.#categories = categoriesOf(deps.projections);
    this.#processors = deps.projections.map(
      (projection) => new ProjectionProcessor(projection, deps.readStore),
    );
  }

  /**
   * Folds all events up to the head as of this call. When the signal aborts, what is not committed is dropped. `onBatch`:
   * called with the number of events of each page and the position that is reached in memory.
   * @throws what the stores and `onBatch` throw
   */
  async catchUp(
    onBatch: (events: number, position: Position) => Promise<void> = async () => undefined,
    signal?: AbortSignal,
  ): Promise<void> {
    const { eventStore, maxEvents = CATCH_UP_EVENTS } = this.#deps;
    const { pageEvents } = this.#rules;
    await this.#start();
    const head = await eventStore.head();
    let held = 0;
    while (head !== undefined && !signal?.aborted) {
      const after = this.#lowest();
      if (this.#allWait() || (after !== undefined && after >= head)) break;
      const events = await eventStore.readAll({ after, categories: this.#categories, limit: pageEvents });
      const last = events.at(-1);
      if (!last) break;
      await this.#take(events);
      held += events.length;
      if (held >= maxEvents) {
        await commitTaken(this.#deps, this.#processors);
        held = 0;
      }
      await onBatch(events.length, this.#lowest() ?? last.position);
      await yieldToLoop();
    }
    if (signal?.aborted) return;
    if (head !== undefined) for (const processor of this.#processors) processor.passTo(head);
    await commitTaken(this.#deps, this.#processors);
  }

  /** Folds until the signal aborts; retries with backoff when a store fails. */
  async run(signal: AbortSignal): Promise<void> {
    const onFailure = (err: unknown, retryInMs: number) => {
      const failure = whatToDo(err);
      // One log line an outage.
      if (failure !== this.#failure)
        this.#deps.log.warn({ err, retryInMs }, "projections interrupted, retrying");
      this.#failure = failure;
    };
    const follow = async (progress: () => void) => {
      await this.#start();
      await this.#follow(signal, () => {
        this.#failure = undefined;
        progress();
      });
    };
    await keepRunning({ ...RETRY, onFailure }, follow, signal);
  }

  /** Why `run` was interrupted, and what to do; until its next commit. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Whether a commit of `run` is being made that has as many events as it may, so that the log likely has more. */
  get hasBacklog(): boolean {
    return this.#processors.some(({ taken }) => taken >= this.#rules.maxEvents);
  }

  /** Events passed since the runner was created, by checkpoint name. */
  processed(): [checkpoint: string, events: number][] {
    return this.#processors.map(({ name, processed }) => [name, processed]);
  }

  /** Loads the committed checkpoints and forgets what was taken since, as a restarted process would. */
  async #start(): Promise<void> {
    const { readStore, projections } = this.#deps;
    const notes = projections.map(({ collection }) => setAsideCollection(collection.name));
    await readStore.ensure([
      ...projections.flatMap(collectionsOf),
      ...notes.map((name) => ({ name, indexes: [] })),
    ]);
    for (const processor of this.#processors) await processor.restart();
  }

  async #follow(signal: AbortSignal, onCommit: () => void): Promise<void> {
    const options = {
      after: this.#lowest(),
      categories: this.#categories,
      batchSize: this.#rules.pageEvents,
    };
    const subscribe = (until: AbortSignal) => this.#deps.eventStore.subscribe({ ...options, signal: until });
    for await (const events of commitBatches(subscribe, this.#rules, signal)) {
      if (signal.aborted) return;
      if (events.length > 0) await this.#take(events);
      else await this.#passOthers();
      await commitTaken(this.#deps, this.#processors);
      onCommit();
      if (this.#allWait()) return await untilAborted(signal);
      await yieldToLoop();
      if (signal.aborted) return;
    }
  }

  /**
   * Moves past the events of other streams, such as millions of clicks since the last change of a link: whoever reads from
   * the checkpoint, as each process does when it starts, would have them searched by the event store.
   */
  async #passOthers(): Promise<void> {
    const { eventStore } = this.#deps;
    const head = await eventStore.head();
    const after = this.#lowest();
    if (head === undefined || this.#allWait() || (after !== undefined && after >= head)) return;
    const [next] = await eventStore.readAll({ after, categories: this.#categories, limit: 1 });
    if (!next || next.position > head) for (const processor of this.#processors) processor.passTo(head);
  }

  /** Each projection takes the events after its position; what changes which clicks count is folded and committed. */
  async #take(events: readonly RecordedEvent[]): Promise<void> {
    for (const part of partsAtCorrections(events)) {
      const batch = parseBatch(part);
      const [event] = batch.events;
      if (event && isCorrection(event)) await this.#correct(event);
      for (const processor of this.#processors) processor.take(batch);
    }
  }

  /** What a withdrawal of clicks, or its end, makes of the documents of each projection, after all events before it. */
  async #correct(event: Correction): Promise<void> {
    await commitTaken(this.#deps, this.#processors);
    const corrected = this.#processors.flatMap((processor) => {
      const correction = processor.correction(event);
      return correction ? [{ processor, correction }] : [];
    });
    if (corrected.length === 0) return;
    await correct(
      this.#deps,
      event,
      corrected.map(({ correction }) => correction),
    );
    const batch = this.#deps.readStore.writeBatch();
    for (const { processor, correction } of corrected)
      addTo(batch, await processor.foldCorrection(event, correction));
    const processors = corrected.map(({ processor }) => processor);
    await commitLast(this.#deps, processors, batch);
  }

  #allWait(): boolean {
    return this.#processors.every(({ waitsFor }) => waitsFor);
  }

  /** Where to read from: the lowest position of the projections that don't wait for a newer program. */
  #lowest(): string | undefined {
    const positions = this.#processors.filter(({ waitsFor }) => !waitsFor).map(({ position }) => position);
    return positions.sort()[0] || undefined;
  }
}

function rulesOf({
  pageEvents = COMMIT_RULES.pageEvents,
  maxEvents = COMMIT_RULES.maxEvents,
  commitIntervalMs = COMMIT_RULES.commitIntervalMs,
}: RunnerDeps): CommitRules {
  return { pageEvents: Math.min(pageEvents, maxEvents), maxEvents, commitIntervalMs };
}
