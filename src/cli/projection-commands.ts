// linkledger projections status | build | rebuild | cancel | rollback | activate; verify beside it.
import type { Command } from "commander";
import { PRESENT_RULES } from "../classification/classify.ts";
import {
  finishBuilds,
  prepareBuilds,
  prepareReclassified,
  rebuild,
  rollBack,
} from "../projections/builds/finish-builds.ts";
import { movedClicks } from "../projections/builds/moved-clicks.ts";
import { clickProjections } from "../projections/groups.ts";
import {
  activateProjectionBuilds,
  cancelProjectionBuilds,
  type OperateDeps,
  projectionsNamed,
  recordRebuild,
  recordRollback,
} from "../projections/operations/operate.ts";
import type { Projection } from "../projections/projection.ts";
import { projectionRows } from "../queries/audit/projection-rows.ts";
import { DomainError } from "../runtime/errors.ts";
import { createLogger } from "../runtime/logging.ts";
import type { Printable } from "./output.ts";
import { progressLine } from "./progress-line.ts";
import { statusLines } from "./projections/status-lines.ts";
import { verifyCommand } from "./projections/verify-command.ts";
import { type Json, runReading, runWithoutCatchUp, type Session } from "./session.ts";

class NothingToClassify extends DomainError {
  override readonly code = "nothing_to_classify";
}

type Options = Json & { rules?: boolean };

export function projectionCommands(program: Command): void {
  const projections = program.command("projections").description("documents folded from events");

  projections
    .command("status")
    .description("progress and builds of the projections, and the events that were set aside")
    .option("--json", "print one JSON document")
    .action((options: Json) =>
      runReading(options, async ({ backend, deps }) => {
        const rows = await projectionRows({ ...deps, foldStore: backend.foldStore });
        return options.json ? rows : statusLines(rows);
      }),
    );

  named(
    projections
      .command("build")
      .description(
        "fold all events for the versions of this program beside what answers, without taking over",
      )
      .option("--rules", "classify all clicks again under this program's rules, and print what moves"),
    async (session, chosen, options, given) => {
      if (!options.rules) return await withProgress(session, chosen, options, prepareBuilds);
      return await reclassifiedBuilds(session, given === 0 ? clickProjections : chosen, options);
    },
  );
  named(
    projections.command("rebuild").description("fold all events again beside what answers, then take over"),
    async (session, chosen, options) => {
      await recordRebuild(operating(session), session.context, chosen);
      return await withProgress(session, chosen, options, rebuild);
    },
  );
  named(
    projections.command("cancel").description("end builds in the making and drop what they have folded"),
    async (session, chosen) => ({
      cancelled: await cancelProjectionBuilds(operating(session), session.context, chosen),
    }),
  );
  named(
    projections
      .command("rollback")
      .description("fold what the previous build lacks, then make it active again"),
    async (session, chosen, options) => {
      await recordRollback(operating(session), session.context, chosen);
      return await withProgress(session, chosen, options, rollBack);
    },
    "<name...>",
  );
  named(
    projections.command("activate").description("let builds take over that wait for it"),
    async (session, chosen, options) => {
      await activateProjectionBuilds(operating(session), session.context, chosen);
      return await withProgress(session, chosen, options, finishBuilds);
    },
    "<name...>",
  );
  verifyCommand(projections);
}

function named(
  command: Command,
  answer: (
    session: Session,
    chosen: readonly Projection[],
    options: Options,
    given: number,
  ) => Promise<Printable>,
  names = "[name...]",
): void {
  command
    .argument(names, names.startsWith("[") ? "of projections; all by default" : "of projections")
    .option("--json", "print one JSON document")
    .action((given: string[], options: Options) =>
      runWithoutCatchUp(options, (session) =>
        answer(session, projectionsNamed(given), options, given.length),
      ),
    );
}

/** The builds wait for `activate`. @throws NothingToClassify */
async function reclassifiedBuilds(session: Session, chosen: readonly Projection[], options: Options) {
  const rules = PRESENT_RULES;
  const other = chosen.find(({ handles }) => !handles.includes("LinkClicked"));
  if (other) throw new NothingToClassify(`${other.name} has nothing that rules of clicks would change`);
  await recordRebuild(operating(session), session.context, chosen, false, rules);
  const built = await withProgress(session, chosen, options, (deps, projections, onProgress) =>
    prepareReclassified(deps, projections, rules, onProgress),
  );
  const { clicks, unreadable, moved, of, others } = await movedClicks(session.backend, rules);
  return { rules, clicks, unreadable, moved, moves: of, other_moves: others, ...built };
}

/** The unmapped store, where every build has its own collection. */
function operating({ backend, deps }: Session): OperateDeps {
  return { ...deps, readStore: backend.foldStore };
}

async function withProgress(
  { backend, deps }: Session,
  chosen: readonly Projection[],
  { json }: Options,
  make: typeof rebuild,
) {
  const { eventStore, foldStore: readStore } = backend;
  const log = createLogger("error", process.stderr);
  const started = performance.now();
  const line = progressLine(process.stderr);
  const { builds, events } = await make({ ...deps, eventStore, readStore, log }, chosen, (progress) => {
    if (!json) line.show(progress);
  }).finally(() => line.end());
  return { builds, events, seconds: Math.round(performance.now() - started) / 1000 };
}
