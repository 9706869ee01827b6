// Runs projections: reads batches, folds each projection, writes documents, then its checkpoint; owns every retry.
import { setImmediate as yieldToLoop } from "node:timers/promises";
import type { Logger } from "pino";
import { type NextEvent, nextEventFinder } from "../event-store/next-event.ts";
import type { EventStore, RecordedEvent } from "../event-store/port.ts";
import { pause } from "../pause.ts";
import type { ReadStore } from "../read-store/port.ts";
import { backoffMs } from "../runtime/backoff.ts";
import { checkpointName } from "./checkpoint-name.ts";
import { commitBatches } from "./commit-batches.ts";
import { Course } from "./course.ts";
import type { Projection } from "./projection.ts";
import { type ProjectionStatus, prefixesOf, statusOf } from "./status.ts";
import { liveBuilds, untilSwapped } from "./until-swapped.ts";

export type RunnerLog = Pick<Logger, "info" | "warn" | "error">;

export type RunnerDeps = {
  eventStore: EventStore;
  /** The store itself, where every build has its own collection and checkpoint, not its live view. */
  readStore: ReadStore;
  /** Each as its live build, unless it names another. */
  projections: readonly Projection[];
  clock: () => Date;
  log: RunnerLog;
  /** Milliseconds from one commit to the next while events keep coming; default 500. */
  commitEveryMs?: number;
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
  #courses: Course[];

  constructor(deps: RunnerDeps) {
    this.#deps = deps;
    this.#prefixes = prefixesOf(deps.projections);
    this.#next = nextEventFinder(deps.eventStore, this.#prefixes);
    this.#courses = deps.projections.map((projection) => new Course(projection, deps.readStore));
  }

  /**
   * Folds all events up to the head as of this call. `passed`: told after each commit how many events it was.
   * @throws what the stores and `passed` throw
   */
  async catchUp(passed: (events: number) => Promise<void> = async () => undefined): Promise<void> {
    await this.#start();
    const head = await this.#deps.eventStore.head();
    if (head === undefined) return;
    for (;;) {
      const after = this.#lowest();
      if (this.#allFaulted() || (after !== undefined && after >= head)) return;
      const events = await this.#deps.eventStore.readAll({
        after,
        prefixes: this.#prefixes,
        limit: MOST_EVENTS,
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
    let failures = 0;
    while (!signal.aborted) {
      try {
        await this.#start();
        const builds = this.#courses.map(({ name }) => name);
        await untilSwapped(this.#deps, builds, signal, (turn) =>
          this.#follow(turn, () => {
            failures = 0;
          }),
        );
        // A subscription that ends by itself was dropped.
        if (!signal.aborted) await pause(RETRY.fromMs, signal);
      } catch (error) {
        if (signal.aborted) return;
        failures += 1;
        const retryInMs = backoffMs(failures, RETRY, this.#deps.random ?? Math.random);
        this.#deps.log.warn({ err: error, retryInMs }, "projections interrupted, retrying");
        await pause(retryInMs, signal);
      }
    }
  }

  /** Per projection how far it is. @throws what the stores throw */
  async status(): Promise<ProjectionStatus[]> {
    const courses = this.#deps.projections.map((projection, n) => ({
      projection,
      processed: this.#courses[n]?.processed ?? 0,
    }));
    return statusOf(this.#deps, courses, this.#next);
  }

  /** From the committed checkpoints, with nothing in memory: what a restarted process would do. */
  async #start(): Promise<void> {
    const { readStore } = this.#deps;
    const builds = await liveBuilds(this.#deps);
    await readStore.ensure(builds.map(({ collection }) => collection));
    this.#courses = this.#courses.map((course, n) => {
      const build = builds[n] as Projection;
      return checkpointName(build) === course.name ? course : new Course(build, readStore);
    });
    for (const course of this.#courses) await course.restart();
  }

  async #follow(signal: AbortSignal, committed: () => void): Promise<void> {
    const { eventStore } = this.#deps;
    const options = { after: this.#lowest(), prefixes: this.#prefixes, batchSize: MOST_EVENTS };
    const rules = { mostEvents: MOST_EVENTS, everyMs: this.#deps.commitEveryMs ?? COMMIT_EVERY_MS };
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
    const active = this.#courses.filter((course) => !course.faulted);
    const after = active.reduce<string | undefined>((low, { position }) => {
      return low === undefined || position < low ? position : low;
    }, undefined);
    const fresh = events.filter(({ position }) => position > (after ?? ""));
    const batch = Course.read(fresh);
    for (const course of active) {
      const fault = await course.advance(batch);
      if (fault) this.#deps.log.error({ projection: course.name, ...fault }, "projection faulted");
      // On SQLite nothing else does: the thread could not tell its status during a commit of many seconds.
      await yieldToLoop();
    }
  }

  #allFaulted(): boolean {
    return this.#courses.every(({ faulted }) => faulted);
  }

  /** Where to read from: behind the slowest projection that still goes on. */
  #lowest(): string | undefined {
    const positions = this.#courses.filter(({ faulted }) => !faulted).map(({ position }) => position);
    return positions.sort()[0] || undefined;
  }
}

async function untilAborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return;
  await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
}
