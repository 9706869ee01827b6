// The one way to fold: a build of a group, from its checkpoint to the end of the log, and on for ever where that is wanted.
// The projector, a rebuild, a rollback and verification all call it.

import { setImmediate as yieldToLoop } from "node:timers/promises";
import { systemClock } from "../../runtime/pause.ts";
import { logSource } from "../../stores/event-store/log-source.ts";
import { type Position, START } from "../../stores/event-store/port.ts";
import { type AwaitedEvent, CheckpointMoved } from "../../stores/read-store/port.ts";
import type { ProjectionGroup } from "../groups.ts";
import { type Build, checkpointName } from "./build.ts";
import type { BuildState } from "./build-state.ts";
import { droppedOrOlder, type FoldDeps, FoldedFromElsewhere } from "./fold-deps.ts";
import { openBuild } from "./open-build.ts";

type FoldOptions = {
  signal: AbortSignal;
  /** Goes on with what is appended until the signal aborts; otherwise it ends at the end of the log. */
  follows: boolean;
  /** Whether others wait for this thread meanwhile: then it reads less at a time, and commits as the group does. */
  isBesideOthers?: boolean;
  /** After each page, and after each commit: with the events that were passed in all, and the position that is reached. */
  onTake?: (taken: { events: number; position: Position }) => void;
  onCommit?: (events: number) => void;
};

/** `waitsFor`: the event of a newer program that the build stands before. */
export type Folded = { events: number; waitsFor: AwaitedEvent | undefined };

const PAGE = { alone: 4_000, besideOthers: 2_000 };
/** Of a commit, which writes the totals of each link once; as rows of tables they take some 60 bytes each until then. */
const MOST_EVENTS = 500_000;
const MOST_DOCUMENTS = 24_000;
/** Nobody waits for the documents of a build that catches up alone. */
const CATCH_UP_MS = 60_000;
/** The share of the time that is spent on commits, where the interval may grow so long. */
const COMMIT_SHARE = 0.02;
const IDLE_MS = 60_000;
/** So often it moves its checkpoint past events of other streams, where none comes that it folds. */
const PASS_MS = 10_000;

/**
 * Several processes may fold the same build: each commit continues the stored checkpoint, so the one that is behind forgets
 * what it has in memory and goes on from there. @throws FoldedFromElsewhere; what the stores throw
 */
export async function foldBuild(
  deps: FoldDeps,
  group: ProjectionGroup,
  build: Build,
  options: FoldOptions,
): Promise<Folded> {
  let events = 0;
  for (;;) {
    let opened: BuildState | undefined;
    try {
      const state = await openBuild(deps, group, build);
      opened = state;
      const onTake = () => options.onTake?.({ events: events + state.taken, position: state.position });
      const onCommit = (more: number) => {
        events += more;
        options.onCommit?.(events);
      };
      await foldFrom(deps, group, state, { ...options, onTake, onCommit });
      return { events, waitsFor: state.waitsFor };
    } catch (error) {
      if (!(error instanceof CheckpointMoved)) throw error;
      const { stored } = error;
      // One that is behind what was taken, and not behind what was committed, is another holder's.
      if (!stored || stored.position < (opened?.committedPosition ?? START))
        throw new FoldedFromElsewhere(droppedOrOlder(checkpointName(group, build)));
    }
  }
}

async function foldFrom(
  deps: FoldDeps,
  group: ProjectionGroup,
  state: BuildState,
  options: FoldOptions & { onTake: () => void; onCommit: (events: number) => void },
): Promise<void> {
  const { now = systemClock.now, sleep = systemClock.sleep } = deps;
  const { signal, follows, isBesideOthers = follows, onTake, onCommit } = options;
  const pageEvents = isBesideOthers ? PAGE.besideOthers : PAGE.alone;
  const { categories, commitMs } = group;
  const intervalMs = isBesideOthers ? commitMs : { least: CATCH_UP_MS, most: CATCH_UP_MS };
  const { eventStore } = deps;
  const source = logSource(
    (after) => eventStore.readAll({ after, categories, limit: pageEvents }),
    (after, until) => eventStore.subscribe({ after, categories, batchSize: pageEvents, signal: until }),
    { after: state.position, signal, sleep },
  );
  let dueAt = now() + (follows ? 0 : intervalMs.least);

  const commit = async () => {
    const startedAt = now();
    onCommit(await state.commit());
    const pauseMs = (now() - startedAt) / COMMIT_SHARE;
    dueAt = now() + Math.max(intervalMs.least, Math.min(intervalMs.most, pauseMs));
  };
  try {
    while (!signal.aborted && !state.waitsFor) {
      const nextCommitAt = () =>
        state.isUncommitted ? dueAt : state.hasPassedOthers ? dueAt + PASS_MS : now() + IDLE_MS;
      const waitMs = Math.max(0, nextCommitAt() - now());
      const hasEnded = source.isAtEnd && !follows;
      const page = hasEnded ? undefined : await source.next(Math.min(waitMs, state.workMs));
      if (signal.aborted) return;
      if (page) {
        state.take(page);
        onTake();
      }
      const isFull = state.taken >= MOST_EVENTS || state.changing >= MOST_DOCUMENTS;
      if (isFull || now() >= nextCommitAt() || (state.isUncommitted && source.isAtEnd && !follows))
        await commit();
      // Before the end of the log nobody waits for the present numbers, and more days of it are to come.
      if (source.isAtEnd && (hasEnded || state.workMs === 0)) await state.work(!follows, commit);
      if (source.isAtEnd && !follows && state.isWorkDone) break;
      await yieldToLoop();
    }
    if (signal.aborted) return;
    if (state.isUncommitted || (!follows && state.hasPassedOthers)) await commit();
  } finally {
    await source.close();
  }
  // A newer program goes on from here.
  if (follows) while (!signal.aborted) await sleep(IDLE_MS, signal);
}
