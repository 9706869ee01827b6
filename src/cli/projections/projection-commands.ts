// linkledger projections status | build | rebuild | cancel | rollback | activate | verify

import type { CommandContext } from "../../commands/caller.ts";
import { PRESENT_RULES } from "../../events/classification/classify.ts";
import {
  finishBuilds,
  prepareBuilds,
  prepareReclassified,
  rebuild,
  rollBack,
} from "../../projections/builds/finish-builds.ts";
import { movedClicks } from "../../projections/builds/moved-clicks.ts";
import { clickProjections } from "../../projections/groups.ts";
import {
  activateProjectionBuilds,
  cancelProjectionBuilds,
  type OperateDeps,
  projectionsNamed,
  recordRebuild,
  recordRollback,
} from "../../projections/operations/operate.ts";
import type { Projection } from "../../projections/projection.ts";
import { describeProgress } from "../../projections/runner/progress.ts";
import { isNewerThanLog } from "../../projections/runner/status.ts";
import { type Verification, verifyProjections } from "../../projections/verify/verify-projections.ts";
import {
  type BuildingRow,
  type BuildLabel,
  type ProjectionRow,
  type ProjectionRows,
  projectionRows,
} from "../../queries/audit/projection-rows.ts";
import { createLogger } from "../../runtime/logging.ts";
import { Refused } from "../../runtime/refused.ts";
import { openScratchStore } from "../../service/stores/backend.ts";
import { type CommandRow, option, wholeFrom } from "../command.ts";
import { withVerdict } from "../output.ts";
import { runReading, runWithoutCatchUp, type Session } from "../session.ts";

const names = { name: "of projections; all by default" };
const named = { name: "of projections" };

export const commands: readonly CommandRow[] = [
  {
    name: "status",
    about: "progress and builds of the projections, and the events that were set aside",
    by: runReading,
    run: ({ backend, deps }) => projectionRows({ ...deps, foldStore: backend.foldStore }),
    print: statusForPeople,
  },
  {
    name: "build [name...]",
    about: "fold all events for the versions of this program beside what answers, without taking over",
    args: names,
    options: [option("--rules", "classify all hits again under this program's rules, and print what moves")],
    by: runWithoutCatchUp,
    async run(session, { rules }: { rules?: boolean }, given: string[]) {
      const chosen = projectionsNamed(given);
      if (!rules) return await built(session, chosen, prepareBuilds);
      return await reclassifiedBuilds(session, given.length === 0 ? clickProjections : chosen);
    },
  },
  folding("rebuild [name...]", "fold all events again beside what answers, then take over", {
    make: rebuild,
    record: recordRebuild,
  }),
  {
    name: "cancel [name...]",
    about: "end builds in progress and drop what they have folded",
    args: names,
    by: runWithoutCatchUp,
    async run(session, _: object, given: string[]) {
      const chosen = projectionsNamed(given);
      return { cancelled: await cancelProjectionBuilds(operating(session), session.context, chosen) };
    },
  },
  folding("rollback <name...>", "fold what the previous build lacks, then make it active again", {
    make: rollBack,
    record: recordRollback,
  }),
  folding("activate <name...>", "let builds take over that wait for it", {
    make: finishBuilds,
    record: activateProjectionBuilds,
  }),
  {
    name: "verify [name...]",
    about: "fold all events again, and compare what answers with the result, document by document",
    args: names,
    options: [
      option(
        "--sample <documents>",
        "compare about so many documents of each, drawn at random",
        wholeFrom(1, 9),
      ),
    ],
    by: runReading,
    async run(session, { sample }: { sample?: number }, given: string[]) {
      return await session.work.interruptible(
        () => "Nothing was changed, and nothing is known of the documents",
        () => verified(session, projectionsNamed(given), sample),
      );
    },
    print: verificationForPeople,
    exitCode: ({ ok }: { ok: boolean }) => (ok ? 0 : 1),
  },
];

type Folding = {
  make: typeof rebuild;
  record: (deps: OperateDeps, context: CommandContext, chosen: readonly Projection[]) => Promise<void>;
};

function folding(name: string, about: string, { make, record }: Folding): CommandRow {
  return {
    ...{ name, about, args: name.includes("[") ? names : named },
    by: runWithoutCatchUp,
    async run(session, _: object, given: string[]) {
      const chosen = projectionsNamed(given);
      return await built(session, chosen, make, () => record(operating(session), session.context, chosen));
    },
  };
}

/** The builds wait for `activate`. @throws nothing_to_classify */
async function reclassifiedBuilds(session: Session, chosen: readonly Projection[]) {
  const rules = PRESENT_RULES;
  const other = chosen.find(({ handles }) => !handles.includes("LinkClicked"));
  if (other)
    throw new Refused("nothing_to_classify", `${other.name} has nothing that rules of clicks would change`);
  const prepare: typeof rebuild = (deps, projections, signal) =>
    prepareReclassified(deps, projections, rules, signal);
  const record = () => recordRebuild(operating(session), session.context, chosen, false, rules);
  const made = await built(session, chosen, prepare, record);
  const { clicks, unreadable, moved, of, others } = await movedClicks(session.backend, rules);
  return { rules, clicks, unreadable, moved, moves: of, other_moves: others, ...made };
}

/** The unmapped store, where every build has its own collection. */
function operating({ backend, deps }: Session): OperateDeps {
  return { ...deps, readStore: backend.foldStore };
}

/** `record`: what is recorded of it before. */
async function built(
  session: Session,
  chosen: readonly Projection[],
  make: typeof rebuild,
  record: () => Promise<void> = async () => undefined,
) {
  const { work } = session;
  const outcome = () =>
    `${work.shareText} of the log was read, and what answers is unchanged: a running service goes on with the build, and so ` +
    "does this command, given again; `projections cancel` drops it";
  return await timed(async () => {
    const { builds, events } = await work.interruptible(outcome, async () => {
      await record();
      return await make(foldDeps(session), chosen, work.signal);
    });
    return { builds, events };
  });
}

async function verified(session: Session, chosen: readonly Projection[], sample?: number) {
  const scratch = await openScratchStore();
  const compare = () => verifyProjections({ ...foldDeps(session), scratch }, chosen, { sample });
  return await timed(compare).finally(() => scratch.close());
}

function foldDeps({ backend, deps, terminal }: Session) {
  const { eventStore, foldStore: readStore } = backend;
  return { ...deps, eventStore, readStore, log: createLogger("error", terminal.stderr) };
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
      projection: row.name,
      state: isNewerThanLog(row.position, head) ? "newer than the log, needs a rebuild" : row.state,
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

function buildingText({ events, events_per_second, done, seconds_left }: BuildingRow): string {
  if (done === 1) return "complete and not active";
  // Whoever folds it has said nothing of it yet, or nobody does.
  if (events === 0) return "a running service begins or goes on with it by itself";
  return describeProgress({
    ...{ events, eventsPerSecond: events_per_second, done },
    ...(seconds_left !== null && { secondsLeft: seconds_left }),
  });
}

function verificationForPeople({ ok, differences, ...found }: Verification & { seconds: number }) {
  const nothing = found.projections.length === 0;
  const bad = nothing ? "Nothing could be compared" : "Documents differ from what the log gives";
  return withVerdict({
    ...found,
    differences: differences.map(({ projection, id, problem, fields }) => {
      const named = fields.map(({ field, stored, folded }) => `${field} is ${stored}, by the log ${folded}`);
      return [`${projection} ${id}: ${problem}`, ...named].join("; ");
    }),
    sentence: ok ? "The documents are what the log gives" : bad,
  });
}
