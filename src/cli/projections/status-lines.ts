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
export function statusLines({ head, projections, webhook_router: router }: ProjectionRows) {
  const consumers = [...projections, { name: "webhook router", set_aside: router.set_aside }];
  return {
    head,
    projections: projections.map((row) => lineOf(row, head)),
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

function lineOf(row: ProjectionRow, head: ProjectionRows["head"]) {
  const { name, state, active, previous, building, position, lag_ms: lagMs, waits_for: waitsFor } = row;
  const before = previous ? ` (before: ${label(previous)})` : "";
  const behind = lagMs > 0 ? [`${Math.round(lagMs / 1000)} s behind`] : [];
  const newer = isNewerThanLog(position, head) ? ["newer than the log, needs a rebuild"] : [];
  const waits = waitsFor
    ? [`waits for a newer program, to fold ${waitsFor.type} at ${waitsFor.position}`]
    : [];
  const setAside = row.set_aside.count > 0 ? [`${row.set_aside.count} set aside`] : [];
  const made = building ? [madeOf(building)] : [];
  const build = `${active ? label(active) : "not built yet"}${before}`;
  const notes = [...behind, ...newer, ...waits, ...setAside, ...made];
  return [name, state, build, `at ${position ?? "the start"}`, ...notes].join("  ");
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
