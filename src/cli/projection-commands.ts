// linkledger projections status | rebuild | rollback
import type { Command } from "commander";
import { DomainError } from "../errors.ts";
import { createLogger } from "../logging.ts";
import { readBuilds } from "../projections/builds.ts";
import { checkpointName } from "../projections/checkpoint-name.ts";
import { allProjections, clickProjections, lifecycleProjections } from "../projections/groups.ts";
import type { Projection } from "../projections/projection.ts";
import { rebuild } from "../projections/rebuild.ts";
import { rollBack } from "../projections/roll-back.ts";
import { type ProjectionStatus, projectionStatus } from "../projections/status.ts";
import { progressLine } from "./progress-line.ts";
import { looking, type Session } from "./session.ts";

export class UnknownProjection extends DomainError {
  override readonly code = "unknown_projection";
}

export function projectionCommands(program: Command): void {
  const projections = program.command("projections").description("documents folded from events");

  projections
    .command("status")
    .description("how far each projection is, and whether it is faulted")
    .option("--json", "print one JSON document")
    .action((options: { json?: boolean }) => looking(options.json ?? false, status));

  projections
    .command("rebuild")
    .description("fold all events again beside the live documents, then swap; all projections by default")
    .argument("[name...]")
    .option("--json", "print one JSON document")
    .action((names: string[], options: { json?: boolean }) =>
      looking(options.json ?? false, ({ backend, deps }) => {
        const log = createLogger("error", process.stderr);
        const { eventStore, foldStore: readStore } = backend;
        return rebuildNamed({ ...deps, eventStore, readStore, log }, names, !options.json);
      }),
    );

  projections
    .command("rollback")
    .description("make the build before the last rebuild live again")
    .argument("<name...>")
    .option("--json", "print one JSON document")
    .action((names: string[], options: { json?: boolean }) =>
      looking(options.json ?? false, async ({ backend, deps }) => {
        const store = { ...deps, readStore: backend.foldStore };
        return { rolled_back: await rollBack(store, projectionsNamed(names)) };
      }),
    );
}

async function rebuildNamed(
  deps: Parameters<typeof rebuild>[0],
  names: readonly string[],
  showProgress: boolean,
) {
  const started = performance.now();
  let events = 0;
  const line = progressLine(process.stderr);
  const rebuilt = await rebuild(deps, projectionsNamed(names), (progress) => {
    events = progress.events;
    if (showProgress) line.show(progress);
  }).finally(() => line.end());
  return { rebuilt, events, seconds: Math.round(performance.now() - started) / 1000 };
}

/** All when none is named. @throws UnknownProjection */
function projectionsNamed(names: readonly string[]): Projection[] {
  const known = allProjections.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined)
    throw new UnknownProjection(`There is no projection ${unknown}; there are ${known.join(", ")}`);
  return allProjections.filter(({ name }) => names.length === 0 || names.includes(name));
}

/** From the committed checkpoints, so that it tells of the running server's projections too. */
async function status({ backend, deps }: Session) {
  const { eventStore, foldStore: readStore } = backend;
  const builds = await readBuilds(readStore);
  const groups = [lifecycleProjections, clickProjections].map((projections) =>
    projectionStatus({ eventStore, readStore, clock: deps.clock, projections })(),
  );
  const rows = (await Promise.all(groups)).flat().map((row) => ({
    name: row.name,
    version: row.version,
    build: row.build,
    build_before: builds.before[checkpointName(unbuilt(row))] ?? null,
    rebuilding: builds.building[checkpointName(unbuilt(row))] !== undefined,
    state: row.fault ? "faulted" : row.behind ? "behind" : "current",
    position: row.position,
    lag_ms: row.lagMs,
    fault: row.fault ?? null,
  }));
  return { head: (await eventStore.head()) ?? null, projections: rows };
}

function unbuilt({ name, version }: ProjectionStatus) {
  return { name, version };
}
