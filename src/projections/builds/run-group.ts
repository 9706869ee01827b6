// Runs a group in one process: keeps this program's build up to date, and folds one in the making beside it.
import { keepTrying } from "../../runtime/keep-trying.ts";
import { pause } from "../../runtime/pause.ts";
import { whatToDo } from "../../stores/connections/errors.ts";
import { type Position, START } from "../../stores/event-store/port.ts";
import type { Checkpoint } from "../../stores/read-store/port.ts";
import { type Build, checkpointName } from "../fold/build.ts";
import { foldBuild } from "../fold/fold-build.ts";
import { droppedOrOlder, FoldedFromElsewhere } from "../fold/fold-deps.ts";
import type { ProjectionGroup } from "../groups.ts";
import { type Builds, buildingOf, keptBuild } from "./builds.ts";
import { buildsIn, buildsName } from "./builds-document.ts";
import { type CompleteDeps, completeBuild } from "./complete-build.ts";
import { dropRetired, foldAnew, registerBuilds, replaceForeign } from "./register-builds.ts";

/** How soon what was asked for is begun. */
const POLL_MS = 2_000;
/** At most two seconds: counts go on soon after a disk has space again. */
const RETRY = { fromMs: 250, toMs: 2_000, random: Math.random };

type Task = { build: Build; ended: AbortController; finished: Promise<void> };

export class GroupRun {
  readonly #deps: CompleteDeps;
  readonly #group: ProjectionGroup;
  /** By number of the build. */
  readonly #tasks = new Map<number, Task>();
  /** The newest stored position that was seen of each, by number of the build. */
  readonly #stored = new Map<number, Position>();
  /** Builds in the making that only a newer program can fold on. */
  readonly #waiting = new Set<number>();
  /** Events by number of the build. */
  readonly #processed = new Map<number, number>();
  #wake = Promise.withResolvers<void>();
  #failure: string | undefined;

  constructor(deps: CompleteDeps, group: ProjectionGroup) {
    this.#deps = deps;
    this.#group = group;
  }

  /** Why folding is interrupted, and what to do; until the next commit. */
  get failure(): string | undefined {
    return this.#failure;
  }

  /** Events that the build has passed in this process. */
  processed({ build }: Build): number {
    return this.#processed.get(build) ?? 0;
  }

  /** Until the signal aborts. The caller holds the lease of the group and its version. */
  async run(signal: AbortSignal): Promise<void> {
    let isRegistered = false;
    let headBefore = START;
    while (!signal.aborted) {
      const look = async () => {
        const checkpoints = await this.#deps.readStore.checkpoints();
        await this.#endDropped(checkpoints);
        let builds = buildsIn(checkpoints[buildsName(this.#group)]);
        if (!isRegistered || !(builds.active || builds.previous || builds.building))
          builds = await registerBuilds(this.#deps, this.#group);
        isRegistered = true;
        const head = await this.#deps.eventStore.head();
        // A log that has become shorter was put back from an older copy.
        if (head < headBefore) builds = await replaceForeign(this.#deps, this.#group, builds);
        headBefore = head;
        if (builds.retired.length > 0) await dropRetired(this.#deps, this.#group);
        this.#follow(builds, signal);
      };
      await look().catch((error: unknown) => this.#failed(error));
      await Promise.race([pause(POLL_MS, signal), this.#wake.promise]);
      this.#wake = Promise.withResolvers();
    }
    for (const { finished } of this.#tasks.values()) await finished;
    this.#tasks.clear();
  }

  /** Those whose documents were dropped, or replaced by older ones, as its next commit would find out. */
  async #endDropped(checkpoints: Record<string, Checkpoint>): Promise<void> {
    for (const [number, { build, ended, finished }] of this.#tasks) {
      const name = checkpointName(this.#group, build);
      const stored = checkpoints[name]?.position;
      const seen = this.#stored.get(number);
      if (stored !== undefined) this.#stored.set(number, stored);
      if (seen === undefined || (stored !== undefined && stored >= seen)) continue;
      ended.abort();
      await finished;
      await foldAnew(this.#deps, this.#group, build, droppedOrOlder(name));
    }
  }

  #follow(builds: Builds, signal: AbortSignal): void {
    const kept = keptBuild(this.#group, builds);
    const building = buildingOf(this.#group, builds);
    // One that is rolled back to is folded as a build in the making until it takes over.
    const follows = kept && kept.build !== building?.build ? kept : undefined;
    const wanted = [follows?.build, building?.build];
    for (const [build, { ended }] of this.#tasks) if (!wanted.includes(build)) ended.abort();
    if (follows && !this.#tasks.has(follows.build))
      this.#start(follows, signal, (until) => this.#keep(follows, until));
    if (!building || this.#tasks.has(building.build) || this.#waiting.has(building.build)) return;
    const isBesideOthers = follows !== undefined;
    this.#start(building, signal, async (until) => {
      const name = checkpointName(this.#group, building);
      this.#deps.log.info(`building projections: ${name}, version ${building.version}`);
      const { outcome, events } = await completeBuild(this.#deps, this.#group, building, {
        signal: until,
        isBesideOthers,
      });
      if (outcome === "waiting") this.#waiting.add(building.build);
      this.#deps.log.info({ outcome, events }, `folded ${name}`);
    });
  }

  #start(build: Build, signal: AbortSignal, work: (until: AbortSignal) => Promise<void>): void {
    const ended = new AbortController();
    const until = AbortSignal.any([signal, ended.signal]);
    const onFailure = (error: unknown) => this.#failed(error);
    const attempt = async () => {
      try {
        await work(until);
      } catch (error) {
        if (!(error instanceof FoldedFromElsewhere)) throw error;
        await foldAnew(this.#deps, this.#group, build, error.message);
      }
    };
    const finished = keepTrying({ ...RETRY, onFailure }, attempt, until).finally(() => {
      this.#tasks.delete(build.build);
      this.#stored.delete(build.build);
      this.#wake.resolve();
    });
    this.#tasks.set(build.build, { build, ended, finished });
  }

  async #keep(build: Build, signal: AbortSignal): Promise<void> {
    const before = this.processed(build);
    await foldBuild(this.#deps, this.#group, build, {
      signal,
      follows: true,
      onCommit: (events) => {
        this.#failure = undefined;
        this.#processed.set(build.build, before + events);
      },
    });
  }

  /** One log line an outage. */
  #failed(err: unknown): void {
    const failure = whatToDo(err);
    if (failure !== this.#failure) this.#deps.log.warn({ err }, "projections interrupted, retrying");
    this.#failure = failure;
  }
}

/** Of whoever folds the builds of this version. */
export function leaseName({ name, version }: ProjectionGroup): string {
  return `projector ${name} ${version}`;
}
