// linkledger projections status | rebuild | reclassify | cancel | rollback | verify

import type { CommandContext } from "../commands/caller.ts";
import { PRESENT_RULES } from "../events/classification/classify.ts";
import { type FinishDeps, type FinishedBuild, finishBuild } from "../projections/builds/await-builds.ts";
import type { Builds } from "../projections/builds/builds.ts";
import {
  cancelBuild,
  groupsNamed,
  type OperateDeps,
  requestRebuild,
  requestRollback,
} from "../projections/builds/operate.ts";
import { type Verification, verifyBuilds } from "../projections/builds/verify-build.ts";
import { movedClicks } from "../projections/fold/moved-clicks.ts";
import { describeProgress } from "../projections/fold/progress.ts";
import { clicks, type ProjectionGroup } from "../projections/groups.ts";
import {
  type BuildingRow,
  type BuildLabel,
  type ProjectionRow,
  type ProjectionRows,
  projectionRows,
} from "../queries/audit/projection-rows.ts";
import { createLogger } from "../runtime/logging.ts";
import { isServedElsewhere, openScratchStore } from "../service/stores/backend.ts";
import { type CommandRow, option } from "./command.ts";
import { withVerdict } from "./output.ts";
import { onStoredData, onStores, type Session } from "./session.ts";

const allByDefault = { name: "lifecycle or clicks; both by default" };
const atLeastOne = { name: "lifecycle or clicks" };

export const commands: readonly CommandRow[] = [
  {
    name: "status",
    about: "progress and builds of the projections, and the events that were set aside",
    by: onStoredData,
    run: ({ backend, deps }) => projectionRows({ ...backend, ...deps }),
    print: statusForPeople,
  },
  {
    name: "rebuild [name...]",
    about: "fold all events again beside what answers, then take over",
    args: allByDefault,
    by: onStores,
    run: (session, _: object, names: string[]) => built(session, groupsNamed(names), requestRebuild),
  },
  {
    name: "reclassify",
    about: "classify all hits again under this program's rules, and rebuild with the result",
    options: [option("--dry-run", "only count what would move")],
    by: onStores,
    async run(session, { dryRun }: { dryRun?: boolean }) {
      const {
        of: moves,
        others: other_moves,
        ...counted
      } = await movedClicks(session.backend, PRESENT_RULES);
      const moved = { rules: PRESENT_RULES, ...counted, moves, other_moves };
      if (dryRun) return moved;
      const request: Request = (...args) => requestRebuild(...args, { isReclassified: true });
      return { ...moved, ...(await built(session, [clicks], request)) };
    },
  },
  {
    name: "cancel [name...]",
    about: "end builds in progress and drop what they have folded",
    args: allByDefault,
    by: onStores,
    async run(session, _: object, names: string[]) {
      const cancelled: { name: string; version: number; build: number }[] = [];
      for (const group of groupsNamed(names)) {
        const ended = await cancelBuild(operating(session), session.context, group);
        if (ended) cancelled.push({ name: group.name, version: ended.version, build: ended.build });
      }
      return { cancelled };
    },
  },
  {
    name: "rollback <name...>",
    about: "fold what the previous build lacks, then make it active again",
    args: atLeastOne,
    by: onStores,
    run: (session, _: object, names: string[]) => built(session, groupsNamed(names), requestRollback),
  },
  {
    name: "verify [name...]",
    about: "fold all events again, and compare what answers with the result, document by document",
    args: allByDefault,
    by: onStoredData,
    async run(session, _: object, names: string[]) {
      return await session.work.interruptible(
        () => "Nothing was changed, and nothing is known of the documents",
        () => verified(session, groupsNamed(names)),
      );
    },
    print: verificationForPeople,
    exitCode: ({ ok }: { ok: boolean }) => (ok ? 0 : 1),
  },
];

type Request = (deps: OperateDeps, context: CommandContext, group: ProjectionGroup) => Promise<Builds>;

/** The unmapped store, where every build has its own collection. */
function operating({ backend, deps }: Session): OperateDeps {
  return { ...deps, readStore: backend.foldStore };
}

/** On servers, one that runs on another machine folds as well. */
function folding({ backend, deps, terminal, service }: Session): FinishDeps {
  const { eventStore, foldStore: readStore } = backend;
  const isServed = async () => service !== undefined || (await isServedElsewhere(backend));
  return { eventStore, readStore, newId: deps.newId, isServed, log: createLogger("error", terminal.stderr) };
}

/** Asks for builds, and waits until they have taken over; folds them where no service does. */
async function built(session: Session, groups: readonly ProjectionGroup[], request: Request) {
  const { work, context } = session;
  const outcome = () =>
    `${work.shareText} of the log was read, and what answers is unchanged: a running service goes on with the build, and so ` +
    "does this command, given again; `projections cancel` drops it";
  return await timed(async () => {
    const builds: FinishedBuild[] = [];
    await work.interruptible(outcome, async () => {
      const requested: [ProjectionGroup, Builds][] = [];
      for (const group of groups) requested.push([group, await request(operating(session), context, group)]);
      for (const [group, begun] of requested)
        builds.push(await finishBuild(folding(session), group, begun, work.signal));
    });
    return { builds };
  });
}

async function verified(session: Session, groups: readonly ProjectionGroup[]) {
  const scratch = await openScratchStore();
  const compare = () => verifyBuilds({ ...folding(session), scratch }, groups);
  return await timed(compare).finally(() => scratch.close());
}

async function timed<T extends object>(work: () => Promise<T>): Promise<T & { seconds: number }> {
  const started = performance.now();
  return { ...(await work()), seconds: Math.round(performance.now() - started) / 1000 };
}

export function statusForPeople({ head, projections, webhook_router: router }: ProjectionRows) {
  const consumers = [...projections, { name: "webhook router", set_aside: router.set_aside }];
  return {
    head,
    projections: projections.map((row) => ({
      projections: row.name,
      state: row.state === "other_log" ? "of another log, are folded anew" : row.state,
      answers: row.active ? label(row.active) : "not built yet",
      previous: row.previous && label(row.previous),
      building: row.building && `${label(row.building)}: ${buildingText(row.building)}`,
      position: row.position ?? "the start",
      behind: row.lag_ms > 0 ? `${Math.round(row.lag_ms / 1000)} s` : null,
      waits_for_a_newer_program: row.waits_for && `${row.waits_for.type} at ${row.waits_for.position}`,
    })),
    set_aside: consumers.flatMap(setAsideLines),
  };
}

/** Such as `link-clicks  LinkClicked at 00000000000000000017, clicks-a-20260301 revision 4: there is no such type`. */
function setAsideLines({ name, set_aside: { count, events } }: Pick<ProjectionRow, "name" | "set_aside">) {
  const lines = events.map(
    ({ type, position, stream, revision, error }) =>
      `${name}  ${type || "unknown"} at ${position}, ${stream} revision ${revision}: ${error}`,
  );
  return count > events.length ? [...lines, `${name}  ${count - events.length} more`] : lines;
}

function label({ version, build, rules, outdated }: BuildLabel): string {
  const under = rules === null ? "" : ` under rules ${rules}${outdated ? ", not the present ones" : ""}`;
  return `version ${version} build ${build}${under}`;
}

function buildingText({ events, events_per_second, done, seconds_left, because }: BuildingRow): string {
  // Whoever folds it has said nothing of it yet, or nobody does.
  if (events === 0) return "a running service begins or goes on with it by itself";
  const why = because === null ? "" : `, as ${because}`;
  return `${describeProgress({
    events,
    eventsPerSecond: events_per_second,
    done,
    ...(seconds_left !== null && { secondsLeft: seconds_left }),
  })}${why}`;
}

function verificationForPeople(
  { ok, differences, ...verification }: Verification & { seconds: number },
  width?: number,
) {
  const isNothingCompared = verification.groups.every(({ version }) => version === null);
  const bad = isNothingCompared ? "Nothing could be compared" : "Documents differ from what the log gives";
  const lines = differences.map(({ projection, id, problem, fields }) => {
    const fieldTexts = fields.map(
      ({ field, stored, folded }) => `${field} is ${stored}, by the log ${folded}`,
    );
    return [`${projection} ${id}: ${problem}`, ...fieldTexts].join("; ");
  });
  const sentence = ok ? "The documents are what the log gives" : bad;
  return withVerdict({ ...verification, differences: lines, sentence }, width);
}
