// Folds a build in the making until it has caught up with the one that answers, and lets it take over.
import { logProgress } from "../../stores/event-store/log-progress.ts";
import { START } from "../../stores/event-store/port.ts";
import type { AwaitedEvent } from "../../stores/read-store/port.ts";
import { type Build, checkpointName } from "../fold/build.ts";
import { foldBuild } from "../fold/fold-build.ts";
import type { FoldDeps } from "../fold/fold-deps.ts";
import { describeProgress, type Progress, progressOf } from "../fold/progress.ts";
import type { ProjectionGroup } from "../groups.ts";
import { type Building, complete, isSame, progressed } from "./builds.ts";
import { changeBuilds, readBuilds } from "./builds-document.ts";
import { dropUnlisted, type RegisterDeps } from "./register-builds.ts";

export type CompleteDeps = RegisterDeps & FoldDeps;

/** `cancelled`: also when another build has taken its place. */
export type Outcome = {
  outcome: "active" | "cancelled" | "aborted" | "waiting";
  waitsFor?: AwaitedEvent;
  events: number;
};

type Options = { signal: AbortSignal; isBesideOthers?: boolean };

const SAY_EVERY_MS = 1_000;
/** As stored before the last events are committed: 1 stands for a build that has taken over. */
const MOST_DONE = 0.99;

/**
 * Repeats its passes over the log until it is no further behind than the build that answers, as no switch goes back in time.
 * @throws what `foldBuild` throws
 */
export async function completeBuild(
  deps: CompleteDeps,
  group: ProjectionGroup,
  build: Building,
  options: Options,
): Promise<Outcome> {
  const folded = await foldUntilActive(deps, group, build, options);
  if (folded.outcome !== "cancelled") return folded;
  // It is no longer in the making, either, where another process has folded it to its end meanwhile.
  const { active } = await readBuilds(deps.readStore, group);
  if (isSame(active, build)) return { outcome: "active", events: active?.events ?? folded.events };
  await dropUnlisted(deps, group, build);
  return folded;
}

async function foldUntilActive(
  deps: CompleteDeps,
  group: ProjectionGroup,
  build: Building,
  { signal, isBesideOthers = false }: Options,
): Promise<Outcome> {
  const cancelled = new AbortController();
  const until = AbortSignal.any([signal, cancelled.signal]);
  const saying = sayProgress(deps, group, build, () => cancelled.abort());
  let events = 0;
  try {
    for (;;) {
      const begun = events;
      const folded = await foldBuild(deps, group, build, {
        signal: until,
        follows: false,
        isBesideOthers,
        onTake: (now) => saying.reached(begun + now.events, now.position),
      });
      events += folded.events;
      if (signal.aborted) return { outcome: "aborted", events };
      if (cancelled.signal.aborted) return { outcome: "cancelled", events };
      if (folded.waitsFor) return { outcome: "waiting", waitsFor: folded.waitsFor, events };
      await saying.stop();
      const builds = await changeBuilds(deps, group, async (now) =>
        (await mayTakeOver(deps, group, build, now.active)) ? complete(now, build, events) : now,
      );
      if (isSame(builds.active, build)) return { outcome: "active", events };
      if (!isSame(builds.building, build)) return { outcome: "cancelled", events };
    }
  } catch (error) {
    // Its collections are gone, which a commit finds out before the list of builds is looked at again.
    if (isSame((await readBuilds(deps.readStore, group)).building, build)) throw error;
    return { outcome: "cancelled", events };
  } finally {
    await saying.stop();
  }
}

/** Read between reading the list of builds and writing it, which fails if another has written it meanwhile. */
async function mayTakeOver(
  { readStore }: Pick<CompleteDeps, "readStore">,
  group: ProjectionGroup,
  build: Building,
  active: Build | undefined,
): Promise<boolean> {
  const checkpoints = await readStore.checkpoints();
  const position = checkpoints[checkpointName(group, build)]?.position ?? START;
  const answered = active ? (checkpoints[checkpointName(group, active)]?.position ?? START) : "";
  return position >= answered;
}

/** Writes how far it has come into the list of builds, and finds out there that it was cancelled. */
function sayProgress(deps: CompleteDeps, group: ProjectionGroup, build: Building, onCancelled: () => void) {
  const startedAt = performance.now();
  let progress: Progress | undefined;
  let from: number | undefined;
  let latest: { events: number; position: string } | undefined;
  const say = async () => {
    const head = await deps.eventStore.head();
    const share = latest ? Math.min(MOST_DONE, logProgress(latest.position, head)) : 0;
    from ??= share;
    if (latest) progress = progressOf(latest.events, performance.now() - startedAt, share, from);
    if (progress)
      deps.log.info(
        { group: group.name, ...progress },
        `projections catch up: ${describeProgress(progress)}`,
      );
    const reached = progress;
    const builds = reached
      ? await changeBuilds(deps, group, (now) => progressed(now, build, reached))
      : await readBuilds(deps.readStore, group);
    if (!isSame(builds.building, build)) onCancelled();
  };
  let saying = Promise.resolve();
  const timer = setInterval(() => {
    // The fold uses the same stores, and reports that they fail.
    saying = saying.then(say).catch(() => undefined);
  }, SAY_EVERY_MS);
  return {
    reached(events: number, position: string) {
      latest = { events, position };
    },
    async stop() {
      clearInterval(timer);
      await saying;
    },
  };
}
