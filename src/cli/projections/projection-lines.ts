// `projections status` and `projections verify` for people: a row for each projection, and a line for each difference.
import { describeProgress } from "../../projections/runner/progress.ts";
import { isNewerThanLog } from "../../projections/runner/status.ts";
import type { Verification } from "../../projections/verify/verify-projections.ts";
import type {
  BuildingRow,
  BuildLabel,
  ProjectionRow,
  ProjectionRows,
} from "../../queries/audit/projection-rows.ts";
import { counted } from "../output.ts";

export function statusForPeople({ head, projections, webhook_router: router }: ProjectionRows) {
  const consumers = [...projections, { name: "webhook router", set_aside: router.set_aside }];
  return {
    head,
    projections: projections.map((row) => ({
      projection: row.name,
      state: row.state,
      answers: row.active ? label(row.active) : "not built yet",
      previous: row.previous && label(row.previous),
      position: row.position ?? "the start",
      notes: notesOf(row, head).join("; ") || null,
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

function notesOf(row: ProjectionRow, head: ProjectionRows["head"]): string[] {
  const { building, position, lag_ms: lagMs, waits_for: waitsFor, set_aside: setAside } = row;
  return [
    ...(lagMs > 0 ? [`${Math.round(lagMs / 1000)} s behind`] : []),
    ...(isNewerThanLog(position, head) ? ["newer than the log, needs a rebuild"] : []),
    ...(waitsFor ? [`waits for a newer program, to fold ${waitsFor.type} at ${waitsFor.position}`] : []),
    ...(setAside.count > 0 ? [`${setAside.count} set aside`] : []),
    ...(building ? [buildingNote(building)] : []),
  ];
}

function label({ version, build, rules, outdated }: BuildLabel): string {
  const under = rules === null ? "" : ` under rules ${rules}${outdated ? ", not the present ones" : ""}`;
  return `version ${version} build ${build}${under}`;
}

function buildingNote(building: BuildingRow): string {
  const { events, events_per_second: eventsPerSecond, done, seconds_left: left } = building;
  if (done === 1) return `${label(building)} is complete and not active`;
  // Whoever folds it has said nothing of it yet, or nobody does.
  if (events === 0)
    return `${label(building)} is being built: a running service begins or goes on with it by itself`;
  const progress = { events, eventsPerSecond, done, ...(left === null ? {} : { secondsLeft: left }) };
  return `${label(building)} is being built: ${describeProgress(progress)}`;
}

export function verificationForPeople(found: Verification & { seconds: number }) {
  const { ok, events, projections, unverified, differences, sums, seconds } = found;
  const documents = projections.reduce((sum, one) => sum + one.documents, 0);
  return {
    verdict: ok
      ? "The documents are what the log gives"
      : projections.length === 0
        ? "Nothing could be compared"
        : "Documents differ from what the log gives",
    compared: `${counted(documents, "document")}, with ${counted(events, "event")}, in ${seconds} s`,
    projections,
    ...(unverified.length > 0 && { unverified }),
    ...(sums.length > 0 && { sums }),
    differences: differences.map(({ projection, id, problem, fields }) => {
      const named = fields.map(({ field, stored, folded }) => `${field} is ${stored}, by the log ${folded}`);
      return [`${projection} ${id}: ${problem}`, ...named].join("; ");
    }),
  };
}
