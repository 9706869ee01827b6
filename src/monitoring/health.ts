// Whether this process should get traffic, and which part of it is away, late or done without.
import { logProgress } from "../event-store/log-progress.ts";
import type { EventStore } from "../event-store/port.ts";
import { describeProgress } from "../projections/runner/progress.ts";
import { LATE_MS, type ProjectionStatus } from "../projections/runner/status.ts";
import type { ReadStore } from "../read-store/port.ts";
import type { RecorderStats } from "../redirect/clicks/click-recorder.ts";
import type { Roles } from "../roles/role.ts";

type Reason = { part: string; reason: string };

/** `reasons`: why it is not ready. `degraded`: what it does without, while it goes on. */
export type Readiness = { ready: boolean; reasons: Reason[]; degraded: Reason[] };

export type HealthDeps = {
  roles: Roles;
  eventStore: Pick<EventStore, "head">;
  readStore: Pick<ReadStore, "checkpoints">;
  /** Undefined when none is configured. */
  redis: { readonly unavailable: boolean } | undefined;
  projections: () => Promise<ProjectionStatus[]>;
  /** Undefined without the redirect role. */
  recorder: () => RecorderStats | undefined;
};

const ANSWER_WITHIN_MS = 1000;
const MOST_CLICKS_WAITING = 100_000;

/**
 * Asks every part, each for a second at most; answers all that is wrong, not only the first. A process that only
 * redirects goes on without its stores, one whose clicks have a spool without the event store; and one that doesn't
 * project can't mend what the projector does.
 */
export async function readiness(deps: HealthDeps): Promise<Readiness> {
  const { roles } = deps;
  const [[eventStore, readStore], projections] = await Promise.all([
    Promise.all([
      problemOf("event store", deps.eventStore.head()),
      problemOf("read store", deps.readStore.checkpoints()),
    ]),
    projectorProblems(deps.projections),
  ]);
  const recorder = deps.recorder();
  const reasons = recorderProblems(recorder);
  const degraded = [...redisProblems(deps.redis), ...spoolProblems(recorder)];
  const onlyRedirects = [...roles].every((role) => role === "redirect");
  const goesOn = onlyRedirects || recorder?.spool !== undefined;
  const isAway = eventStore.length > 0;
  (goesOn ? degraded : reasons).push(...eventStore);
  (onlyRedirects ? degraded : reasons).push(...readStore);
  (roles.has("projector") && !(goesOn && isAway) ? reasons : degraded).push(...projections.reasons);
  degraded.push(...projections.degraded);
  return { ready: reasons.length === 0, reasons, degraded };
}

function recorderProblems(stats: RecorderStats | undefined): Reason[] {
  if (stats === undefined || stats.backlog <= MOST_CLICKS_WAITING) return [];
  return [{ part: "click recorder", reason: `${stats.backlog} clicks wait for the event store` }];
}

function spoolProblems(stats: RecorderStats | undefined): Reason[] {
  if (!stats?.spool) return [];
  const { clicks, full } = stats.spool;
  const waiting = { part: "click spool", reason: `${clicks} clicks wait on disk for the event store` };
  const noRoom = { part: "click spool", reason: "is full: clicks wait in memory" };
  return [...(clicks > 0 ? [waiting] : []), ...(full ? [noRoom] : [])];
}

function redisProblems(redis: HealthDeps["redis"]): Reason[] {
  return redis?.unavailable
    ? [{ part: "redis", reason: "is away: each process counts limits for itself" }]
    : [];
}

/** `degraded`: late, but answered from the previous build until the new one has taken over. */
async function projectorProblems(
  projections: HealthDeps["projections"],
): Promise<Pick<Readiness, "reasons" | "degraded">> {
  const found = await Promise.race([projections().catch(() => undefined), late()]);
  const none = (reason: string) => ({ reasons: [{ part: "projector", reason }], degraded: [] });
  if (!found) return none("does not answer");
  if (found.length === 0) return none("has not started yet");
  const of = (statuses: ProjectionStatus[]) =>
    statuses.flatMap((status) => {
      const reason = projectionProblem(status);
      return reason === undefined ? [] : [{ part: `projection ${status.name}`, reason }];
    });
  const hasPrevious = ({ answers }: ProjectionStatus) => answers === "other";
  return {
    reasons: of(found.filter((status) => !hasPrevious(status))),
    degraded: of(found.filter(hasPrevious)),
  };
}

function projectionProblem(status: ProjectionStatus): string | undefined {
  const { fault, lagMs, answers } = status;
  if (fault) return `faulted at ${fault.type} ${fault.position}`;
  if (lagMs > LATE_MS) return `${lagMs} ms behind${catchingUp(status)}`;
  if (answers === "nothing") return `is built for the first time${catchingUp(status)}`;
  return answers === "other" ? `is answered from an earlier build${catchingUp(status)}` : undefined;
}

/** What this process folds itself, with its rate and the time left; of another's work only how far it is. */
function catchingUp({ catchUp, position, head }: ProjectionStatus): string {
  if (catchUp) return `, catching up: ${describeProgress(catchUp)}`;
  return head ? `, ${Math.floor(logProgress(position ?? "0", head) * 100)} % of the log folded` : "";
}

async function problemOf(part: string, asked: Promise<unknown>): Promise<Reason[]> {
  const outcome = await Promise.race([asked.then(() => "answers").catch(() => "is away"), late()]);
  return outcome === "answers" ? [] : [{ part, reason: outcome ?? "does not answer" }];
}

function late(): Promise<undefined> {
  return new Promise((resolve) => setTimeout(resolve, ANSWER_WITHIN_MS, undefined).unref());
}
