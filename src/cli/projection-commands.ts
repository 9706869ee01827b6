// linkledger projections status
import type { Command } from "commander";
import { createLogger } from "../logging.ts";
import { clickProjections, lifecycleProjections } from "../projections/groups.ts";
import { ProjectionRunner } from "../projections/runner.ts";
import { looking, type Session } from "./session.ts";

export function projectionCommands(program: Command): void {
  const projections = program.command("projections").description("documents folded from events");

  projections
    .command("status")
    .description("how far each projection is, and whether it is faulted")
    .option("--json", "print one JSON document")
    .action((options: { json?: boolean }) => looking(options.json ?? false, status));
}

/** From the committed checkpoints, so that it tells of the running server's projections too. */
async function status({ backend, deps }: Session) {
  const log = createLogger("warn", process.stderr);
  const groups = [lifecycleProjections, clickProjections].map((projections) => {
    const { eventStore, readStore } = backend;
    return new ProjectionRunner({ eventStore, readStore, projections, clock: deps.clock, log }).status();
  });
  const rows = (await Promise.all(groups)).flat().map((row) => ({
    name: row.name,
    version: row.version,
    state: row.fault ? "faulted" : row.behind ? "behind" : "current",
    position: row.position,
    lag_ms: row.lagMs,
    fault: row.fault ?? null,
  }));
  return { head: (await backend.eventStore.head()) ?? null, projections: rows };
}
