// `projections status` for people: a line for each projection, with what JSON answers have as objects.
import { describeProgress } from "../../projections/runner/progress.ts";
import { isNewerThanLog } from "../../projections/runner/status.ts";
import type {
  BuildingRow,
  BuildLabel,
  ProjectionRow,
  ProjectionRows,
} from "../../queries/audit/projection-rows.ts";

/** Such as `link-clicks  current  version 3 build 1 (before: version 3 build 0)  at 00000000000000200043`. */
export function statusLines({ head, projections }: ProjectionRows) {
  return { head, projections: projections.map((row) => lineOf(row, head)) };
}

function lineOf(row: ProjectionRow, head: ProjectionRows["head"]) {
  const { name, state, active, previous, building, position, lag_ms: lagMs, fault } = row;
  const before = previous ? ` (before: ${label(previous)})` : "";
  const behind = lagMs > 0 ? [`${Math.round(lagMs / 1000)} s behind`] : [];
  const newer = isNewerThanLog(position, head) ? ["newer than the log, needs a rebuild"] : [];
  const stopped = fault ? [`stopped at ${fault.type} ${fault.position}: ${fault.error}`] : [];
  const made = building ? [madeOf(building)] : [];
  const build = `${active ? label(active) : "not built yet"}${before}`;
  return [name, state, build, `at ${position ?? "the start"}`, ...behind, ...newer, ...stopped, ...made].join(
    "  ",
  );
}

function label({ version, build, rules, outdated }: BuildLabel): string {
  const under = rules === null ? "" : ` under rules ${rules}${outdated ? ", not the present ones" : ""}`;
  return `version ${version} build ${build}${under}`;
}

function madeOf(building: BuildingRow): string {
  if (building.done === 1) return `complete and not active: ${label(building)}`;
  return `in the making: ${label(building)}, ${describeProgress(progressOf(building))}`;
}

function progressOf({ events, events_per_second: eventsPerSecond, done, seconds_left: left }: BuildingRow) {
  return { events, eventsPerSecond, done, ...(left === null ? {} : { secondsLeft: left }) };
}
