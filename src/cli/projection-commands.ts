// linkledger projections status | build | rebuild | cancel | rollback; verify beside it.
import type { Command } from "commander";
import type { Build } from "../projections/builds/build.ts";
import { readBuilds } from "../projections/builds/builds-document.ts";
import { prepareBuilds, rebuild } from "../projections/builds/finish-builds.ts";
import { cancelBuilds } from "../projections/builds/register-builds.ts";
import { rollBack } from "../projections/builds/roll-back.ts";
import { allProjections, clickProjections, lifecycleProjections } from "../projections/groups.ts";
import type { Projection } from "../projections/projection.ts";
import type { Progress } from "../projections/runner/progress.ts";
import { projectionStatus } from "../projections/runner/status.ts";
import { DomainError } from "../runtime/errors.ts";
import { createLogger } from "../runtime/logging.ts";
import type { Printable } from "./output.ts";
import { progressLine } from "./progress-line.ts";
import { verifyCommand } from "./projections/verify-command.ts";
import { runWithoutCatchUp, type Session } from "./session.ts";

export class UnknownProjection extends DomainError {
  override readonly code = "unknown_projection";
}

type Options = { json?: boolean };

export function projectionCommands(program: Command): void {
  const projections = program.command("projections").description("documents folded from events");

  projections
    .command("status")
    .description("progress, builds and faults of the projections")
    .option("--json", "print one JSON document")
    .action((options: Options) => runWithoutCatchUp(options.json ?? false, status));

  named(
    projections
      .command("build")
      .description(
        "fold all events for the versions of this program beside what answers, without taking over",
      ),
    (session, chosen, options) => withProgress(session, chosen, options, prepareBuilds),
  );
  named(
    projections.command("rebuild").description("fold all events again beside what answers, then take over"),
    (session, chosen, options) => withProgress(session, chosen, options, rebuild),
  );
  named(
    projections.command("cancel").description("end builds in the making and drop what they have folded"),
    async ({ backend, deps }, chosen) => ({
      cancelled: await cancelBuilds({ ...deps, readStore: backend.foldStore }, chosen),
    }),
  );
  named(
    projections.command("rollback").description("make the previous build active again"),
    async ({ backend, deps }, chosen) => ({
      rolled_back: await rollBack({ ...deps, readStore: backend.foldStore }, chosen),
    }),
    "<name...>",
  );
  verifyCommand(projections, projectionsNamed);
}

function named(
  command: Command,
  answer: (session: Session, chosen: readonly Projection[], options: Options) => Promise<Printable>,
  names = "[name...]",
): void {
  command
    .argument(names, "of projections; all by default where none is needed")
    .option("--json", "print one JSON document")
    .action((given: string[], options: Options) =>
      runWithoutCatchUp(options.json ?? false, (session) =>
        answer(session, projectionsNamed(given), options),
      ),
    );
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

/** All projections when `names` is empty. @throws UnknownProjection */
function projectionsNamed(names: readonly string[]): Projection[] {
  const known = allProjections.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new UnknownProjection(`There is no projection ${unknown}; there are ${known.join(", ")}`);
  return allProjections.filter(({ name }) => names.length === 0 || names.includes(name));
}

/** Read from committed state, so that it covers the projections of a running server. */
async function status({ backend, deps }: Session) {
  const { eventStore, foldStore: readStore } = backend;
  const builds = await readBuilds(readStore);
  const groups = [lifecycleProjections, clickProjections].map((projections) =>
    projectionStatus({ eventStore, readStore, clock: deps.clock, projections })(),
  );
  const rows = (await Promise.all(groups)).flat().map((row) => {
    const { active, previous, building } = builds.projections[row.name] ?? {};
    const isBuilding = building?.version === row.version && building.build === row.build;
    return {
      name: row.name,
      version: row.version,
      build: row.build,
      active: labelOf(active),
      previous: labelOf(previous),
      building: building ? { ...labelOf(building), ...progressOf(building.progress) } : null,
      state: row.fault ? "faulted" : isBuilding ? "building" : row.behind ? "behind" : "current",
      position: row.position,
      lag_ms: row.lagMs,
      fault: row.fault ?? null,
    };
  });
  return { head: (await eventStore.head()) ?? null, projections: rows };
}

function labelOf(build: Build | undefined) {
  return build ? { version: build.version, build: build.build } : null;
}

function progressOf({ events, eventsPerSecond, done, secondsLeft }: Progress) {
  return { events, events_per_second: eventsPerSecond, done, seconds_left: secondsLeft ?? null };
}
