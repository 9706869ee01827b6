// One group of projections in one process: folds the builds that answer, and makes those that are missing beside them.
import { type NextEvent, nextEventFinder } from "../../event-store/next-event.ts";
import { keepTrying } from "../../runtime/keep-trying.ts";
import { pause } from "../../runtime/pause.ts";
import { checkpointName, type Projection } from "../projection.ts";
import { ProjectionRunner, type RunnerDeps } from "../runner/runner.ts";
import { buildsStatus, type ProjectionStatus, prefixesOf } from "../runner/status.ts";
import { asBuild, type Builds, buildingOf, foldedBuild } from "./build.ts";
import { readBuilds } from "./builds-document.ts";
import { foldBuilds } from "./fold-builds.ts";
import { adoptBuilds, dropRetired, isFree, registerMissing } from "./register-builds.ts";

export type ProjectionGroupDeps = Omit<RunnerDeps, "mostEvents"> & { newId: () => string };

const LOOK_EVERY_MS = 1_000;
const RETRY = { fromMs: 250, toMs: 15_000 };
/** Fewer at a time than a runner of its own, so that what the same thread folds meanwhile hardly waits. */
const MOST_EVENTS_BESIDE = 1_000;

export class ProjectionGroup {
  readonly #deps: ProjectionGroupDeps;
  readonly #next: NextEvent;
  readonly #prepared = Promise.withResolvers<void>();
  /** By checkpoint name, of runners that have ended. */
  readonly #processed = new Map<string, number>();
  readonly #faulted = new Set<string>();
  #runner: ProjectionRunner | undefined;
  /** Aborts when other builds are to be folded than the runner has. */
  #turn = new AbortController();
  #folded = "";

  constructor(deps: ProjectionGroupDeps) {
    this.#deps = deps;
    this.#next = nextEventFinder(deps.eventStore, prefixesOf(deps.projections));
  }

  /** Folds the builds of this program's version until the signal aborts; for one process at a time. */
  async run(signal: AbortSignal): Promise<void> {
    await Promise.race([this.#prepared.promise, aborted(signal)]);
    while (!signal.aborted) {
      const projections = await this.#choose().catch(() => []);
      if (projections.length === 0) {
        await pause(LOOK_EVERY_MS, signal);
        continue;
      }
      this.#runner = new ProjectionRunner({ ...this.#deps, projections });
      await this.#runner.run(AbortSignal.any([signal, this.#turn.signal]));
      for (const [checkpoint, events] of this.#runner.processed())
        this.#processed.set(checkpoint, (this.#processed.get(checkpoint) ?? 0) + events);
      this.#runner = undefined;
    }
  }

  /**
   * Makes what is missing, whoever folds the rest: in every process that projects, so that a program of a newer version
   * builds while an older one still folds its own. What was cancelled is begun again at the next start only.
   */
  async build(signal: AbortSignal): Promise<void> {
    const { readStore, projections, log, random = Math.random } = this.#deps;
    const onFailure = (err: unknown, retryInMs: number) =>
      log.warn({ err, retryInMs }, "building projections was interrupted, retrying");
    let isRegistered = false;
    const look = async (progress: () => void) => {
      while (!signal.aborted) {
        if (!isRegistered) {
          await adoptBuilds(this.#deps, projections);
          await registerMissing(this.#deps, projections, true);
          isRegistered = true;
          this.#prepared.resolve();
        }
        await dropRetired(this.#deps, projections);
        await this.#buildMissing(await readBuilds(readStore), signal);
        if (foldedNames(projections, await readBuilds(readStore)) !== this.#folded) this.#turn.abort();
        progress();
        await pause(LOOK_EVERY_MS, signal);
      }
    };
    await keepTrying({ ...RETRY, random, onFailure }, look, signal);
  }

  /** Of each projection as this program folds or builds it. @throws what the stores throw */
  async status(): Promise<ProjectionStatus[]> {
    const processed = new Map(this.#processed);
    for (const [checkpoint, events] of this.#runner?.processed() ?? [])
      processed.set(checkpoint, (processed.get(checkpoint) ?? 0) + events);
    return await buildsStatus(this.#deps, this.#next, processed);
  }

  async #choose(): Promise<Projection[]> {
    const builds = await readBuilds(this.#deps.readStore);
    this.#turn = new AbortController();
    this.#folded = foldedNames(this.#deps.projections, builds);
    return this.#deps.projections.flatMap((projection) => foldedBuild(projection, builds) ?? []);
  }

  async #buildMissing(builds: Builds, signal: AbortSignal): Promise<void> {
    const open = this.#deps.projections.flatMap((projection) => {
      const building = buildingOf(projection, builds);
      if (!building || !isFree(this.#deps, building)) return [];
      const checkpoint = checkpointName(asBuild(projection, building));
      return this.#faulted.has(checkpoint) ? [] : [{ projection, checkpoint }];
    });
    if (open.length === 0) return;
    const projections = open.map(({ projection }) => projection);
    const checkpoints = open.map(({ checkpoint }) => checkpoint);
    this.#deps.log.info(`building projections: ${checkpoints.join(", ")}`);
    const deps = this.#folded === "" ? this.#deps : { ...this.#deps, mostEvents: MOST_EVENTS_BESIDE };
    const earlier = new Map(checkpoints.map((one) => [one, this.#processed.get(one) ?? 0]));
    const { complete, faults } = await foldBuilds(deps, projections, signal, (_, events) => {
      for (const [checkpoint, before] of earlier) this.#processed.set(checkpoint, before + events);
    });
    for (const { projection, checkpoint } of open)
      if (faults.some(({ name }) => name === projection.name)) this.#faulted.add(checkpoint);
    if (complete.length > 0) this.#deps.log.info(`built projections: ${complete.join(", ")}`);
  }
}

function foldedNames(projections: readonly Projection[], builds: Builds): string {
  return projections
    .flatMap((projection) => foldedBuild(projection, builds) ?? [])
    .map(checkpointName)
    .join();
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
