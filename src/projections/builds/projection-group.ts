// Runs one group of projections in one process: keeps its present builds up to date, and folds missing builds beside them.

import { keepTrying } from "../../runtime/keep-trying.ts";
import { pause, untilAborted } from "../../runtime/pause.ts";
import { type NextEvent, nextEventFinder } from "../../stores/event-store/next-event.ts";
import { categoriesOf, checkpointName, type Projection } from "../projection.ts";
import { ProjectionRunner, type RunnerDeps } from "../runner/runner.ts";
import { buildsStatus, type ProjectionStatus } from "../runner/status.ts";
import { asBuild, type Building, type Builds, buildingOf, foldedBuild } from "./build.ts";
import { readBuilds } from "./builds-document.ts";
import { isFree } from "./claim-builds.ts";
import { foldBuilds } from "./fold-builds.ts";
import { isUndone, registerMissing, registerProjections } from "./register-builds.ts";
import { dropRetired } from "./retire-builds.ts";

export type ProjectionGroupDeps = RunnerDeps & { clock: () => Date; newId: () => string };

const POLL_MS = 1_000;
/** How soon the build that has taken over is folded on, and the one before isn't. */
const SWITCH_POLL_MS = 1_000;
const RETRY = { fromMs: 250, toMs: 2_000, random: Math.random };
/** Smaller pages than the runner's default, so that the active builds in the same thread are delayed little. */
const PAGE_BESIDE_ACTIVE = 1_000;

export class ProjectionGroup {
  readonly #deps: ProjectionGroupDeps;
  readonly #next: NextEvent;
  readonly #prepared = Promise.withResolvers<void>();
  /** Events by checkpoint name that earlier runners have folded. */
  #processed = new Map<string, number>();
  /** Checkpoint names of builds in progress that only a newer program can fold on. */
  readonly #waiting = new Set<string>();
  #runner: ProjectionRunner | undefined;

  constructor(deps: ProjectionGroupDeps) {
    this.#deps = deps;
    this.#next = nextEventFinder(deps.eventStore, categoriesOf(deps.projections));
  }

  /** Folds the builds of this program's version until the signal aborts. The caller holds the group's lease. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#prepared.promise, untilAborted(signal)]);
    while (!signal.aborted) {
      const builds = await readBuilds(this.#deps.readStore).catch(() => undefined);
      const projections = builds ? foldedBuilds(this.#deps.projections, builds) : [];
      if (!builds || projections.length === 0) {
        await pause(POLL_MS, signal);
        continue;
      }
      this.#runner = new ProjectionRunner({ ...this.#deps, projections });
      const ending = new AbortController();
      const running = this.#runner.run(AbortSignal.any([signal, ending.signal]));
      await this.#untilOthers(builds, signal);
      ending.abort();
      await running;
      this.#processed = this.#processedSoFar();
      this.#runner = undefined;
    }
  }

  /**
   * Folds missing builds until the signal aborts. Needs no lease, so that a program of a newer version prepares its
   * builds while an older one keeps the active builds up to date. A cancelled build is registered again at the next
   * start only.
   */
  async build(signal: AbortSignal): Promise<void> {
    const { readStore, projections, log } = this.#deps;
    const onFailure = (err: unknown, retryInMs: number) =>
      log.warn({ err, retryInMs }, "building projections was interrupted, retrying");
    let registered: Builds | undefined;
    const poll = async (progress: () => void) => {
      while (!signal.aborted) {
        let builds = await readBuilds(readStore);
        if (!registered || isUndone(registered, builds, projections)) {
          await registerProjections(this.#deps, projections);
          builds = await registerMissing(this.#deps, projections, true);
          registered = builds;
          this.#prepared.resolve();
        }
        await dropRetired(this.#deps, projections);
        await this.#buildMissing(builds, signal);
        progress();
        await pause(POLL_MS, signal);
      }
    };
    await keepTrying({ ...RETRY, onFailure }, poll, signal);
  }

  /** Whether the runner of the present builds commits as many events as it may, so that the log likely has more. */
  get hasBacklog(): boolean {
    return this.#runner?.hasBacklog ?? false;
  }

  /** The status of each projection's build that this program folds. @throws what the stores throw */
  async status(): Promise<ProjectionStatus[]> {
    const statuses = await buildsStatus(this.#deps, this.#next, this.#processedSoFar());
    const failure = this.#runner?.failure;
    return failure === undefined ? statuses : statuses.map((status) => ({ ...status, failure }));
  }

  /** With those of the present runner. */
  #processedSoFar(): Map<string, number> {
    const processed = new Map(this.#processed);
    for (const [checkpoint, events] of this.#runner?.processed() ?? [])
      processed.set(checkpoint, (processed.get(checkpoint) ?? 0) + events);
    return processed;
  }

  /** Until other builds than these are to be folded, as when one has taken over, or the signal aborts. */
  async #untilOthers(builds: Builds, signal: AbortSignal): Promise<void> {
    const { projections, readStore } = this.#deps;
    const folded = foldedNames(projections, builds);
    let now = builds;
    while (!signal.aborted && foldedNames(projections, now) === folded) {
      await pause(SWITCH_POLL_MS, signal);
      now = await readBuilds(readStore).catch(() => now);
    }
  }

  async #buildMissing(builds: Builds, signal: AbortSignal): Promise<void> {
    const unfinished = this.#deps.projections.flatMap((projection) => {
      const building = buildingOf(projection, builds);
      if (!building || !isFree(this.#deps, building)) return [];
      const checkpoint = checkpointName(asBuild(projection, building));
      if (this.#waiting.has(checkpoint) || isWaiting(building)) return [];
      return [{ projection, checkpoint }];
    });
    if (unfinished.length === 0) return;
    const projections = unfinished.map(({ projection }) => projection);
    const checkpoints = unfinished.map(({ checkpoint }) => checkpoint);
    this.#deps.log.info(`building projections: ${checkpoints.join(", ")}`);
    const isAlone = foldedNames(this.#deps.projections, builds) === "";
    const deps = isAlone ? this.#deps : { ...this.#deps, pageEvents: PAGE_BESIDE_ACTIVE };
    const earlier = new Map(checkpoints.map((one) => [one, this.#processed.get(one) ?? 0]));
    const { complete, waiting } = await foldBuilds(deps, projections, signal, ({ events }) => {
      for (const [checkpoint, before] of earlier) this.#processed.set(checkpoint, before + events);
    });
    for (const { projection, checkpoint } of unfinished)
      if (waiting.some(({ name }) => name === projection.name)) this.#waiting.add(checkpoint);
    if (complete.length > 0) this.#deps.log.info(`built projections: ${complete.join(", ")}`);
  }
}

function foldedBuilds(projections: readonly Projection[], builds: Builds): Projection[] {
  return projections.flatMap((projection) => foldedBuild(projection, builds) ?? []);
}

function foldedNames(projections: readonly Projection[], builds: Builds): string {
  return foldedBuilds(projections, builds).map(checkpointName).join();
}

/** Complete and waiting to be activated: it is caught up by then. */
function isWaiting({ activates, progress }: Building): boolean {
  return !activates && progress.done === 1;
}
