// Readiness of this process: whether it should get traffic, and which of its parts are unavailable, late or degraded.

import { type GroupStatus, LATE_MS } from "../../projections/builds/status.ts";
import { describeProgress } from "../../projections/fold/progress.ts";
import { clicks } from "../../projections/groups.ts";
import type { RecorderStatus } from "../../redirect/clicks/recorder.ts";
import { messageOf } from "../../runtime/errors.ts";
import { inTime } from "../../runtime/pause.ts";
import { StoreFailed } from "../../stores/connections/errors.ts";
import type { LogHealth, Readiness, Reason } from "../../stores/coordination/log-health.ts";
import type { Counts } from "../../stores/counts/counts.ts";
import { logProgress } from "../../stores/event-store/log-progress.ts";
import type { EventStore } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { describeSetAside, type SetAside } from "../../stores/read-store/set-aside.ts";
import type { WebhooksStatus } from "../../webhooks/webhooks-status.ts";
import type { Roles } from "../roles/role.ts";

export type HealthDeps = {
  roles: Roles;
  eventStore: Pick<EventStore, "head">;
  readStore: Pick<ReadStore, "checkpoints">;
  /** Undefined when none is configured. */
  redis: { readonly unavailable: boolean } | undefined;
  counts: Pick<Counts, "problem">;
  projections: () => Promise<GroupStatus[]>;
  /** What the router of webhooks has passed. */
  routerSetAside: () => Promise<SetAside>;
  /** Undefined without the redirect role. */
  recorder: (() => Promise<RecorderStatus>) | undefined;
  logProblems: LogHealth["problems"];
  /** Whether this process has read the log, ever. */
  wasLogRead: LogHealth["wasRead"];
  /** By role: which of its leases has had no answer for ten seconds, and why: nobody may be doing its work. */
  leaseProblems: ReadonlyMap<string, string>;
  /** By background role: why it does not work, while others do. */
  failures: ReadonlyMap<string, string>;
  /** Undefined without the webhooks role. */
  webhooks: (() => Promise<WebhooksStatus | undefined>) | undefined;
};

const CHECK_TIMEOUT_MS = 1000;
/** Of the events that a part has set aside; `projections status` names all. */
const MOST_NAMED = 100;

/**
 * Checks all parts concurrently, each for a second at most. Some problems degrade a process without making it unready: any
 * store's for one that only redirects, the event store's for one with a click journal, and those of projections for one
 * without the projector role, as restarting it would not help; and a log that can be read and not written, as redirects
 * go on. One whose user the event store has refused since the start is never ready: only an operator can mend that.
 */
export async function readiness(deps: HealthDeps): Promise<Readiness> {
  const { roles } = deps;
  const head = deps.eventStore.head();
  const [[eventStore, readStore], isRefused, projections, router, routed, recorder] = await Promise.all([
    Promise.all([problemOf("event store", head), problemOf("read store", deps.readStore.checkpoints())]),
    answerInTime(head.then(() => false).catch((error: unknown) => error instanceof StoreFailed)),
    projectorProblems(deps.projections),
    webhookProblems(deps.webhooks),
    answerInTime(deps.routerSetAside()),
    deps.recorder && answerInTime(deps.recorder()),
  ]);
  const reasons = byRole(deps.leaseProblems);
  const { secrets, ...logProblems } = deps.logProblems();
  const log = Object.values(logProblems).map((reason) => ({ part: "event store", reason }));
  if (secrets) log.push({ part: "secrets", reason: secrets });
  const degraded = [
    ...log,
    ...redisProblems(deps.redis),
    ...(deps.counts.problem === undefined ? [] : [{ part: "limits", reason: deps.counts.problem }]),
    ...recorderProblems(recorder),
    ...journalProblems(recorder?.journal),
    ...router,
  ];
  const onlyRedirects = [...roles].every((role) => role === "redirect");
  const isNeverRead = isRefused === true && !deps.wasLogRead();
  const needsNoLog = !isNeverRead && (onlyRedirects || recorder?.journal !== undefined);
  const isLogUnavailable = eventStore.length > 0;
  (needsNoLog ? degraded : reasons).push(...eventStore);
  (onlyRedirects ? degraded : reasons).push(...readStore);
  (roles.has("projector") && !(needsNoLog && isLogUnavailable) ? reasons : degraded).push(
    ...projections.reasons,
  );
  degraded.push(
    ...byRole(deps.failures),
    ...projections.degraded,
    ...setAsideProblems("webhook router", routed),
  );
  return { ready: reasons.length === 0, reasons, degraded };
}

function byRole(problems: ReadonlyMap<string, string>): Reason[] {
  return [...problems].map(([part, reason]) => ({ part, reason }));
}

/** While no clicks can be stored, until the log says which of them are lost, and where salts outlive their day. */
function recorderProblems(recorder: RecorderStatus | undefined): Reason[] {
  const { stall, unstored = 0, notRecorded, saltProblem } = recorder ?? {};
  const refused = { part: "redirects", reason: "are answered 503, as their clicks can't be stored" };
  const kept = {
    part: "click recorder",
    reason: `${unstored} clicks wait in memory, as they can't be stored: they are lost where this process ends`,
  };
  const lost = {
    part: "click recorder",
    reason: `${notRecorded?.untold} clicks found no room in memory, and are lost`,
  };
  return [
    ...(stall ? [stall.refuses ? refused : kept] : []),
    ...(notRecorded?.untold ? [lost] : []),
    ...(saltProblem === undefined ? [] : [{ part: "visitor salts", reason: saltProblem }]),
  ];
}

/** While the event store takes none; a moment's clicks are always in it. */
function journalProblems(journal: RecorderStatus["journal"]): Reason[] {
  if (!journal) return [];
  const { clicks, isFull, failure } = journal;
  const waiting = {
    part: "click journal",
    reason: `${clicks} clicks wait on disk for the event store: ${failure?.message}`,
  };
  const noRoom = { part: "click journal", reason: "is full: clicks go to the event store at once" };
  return [...(failure ? [waiting] : []), ...(isFull ? [noRoom] : [])];
}

function redisProblems(redis: HealthDeps["redis"]): Reason[] {
  return redis?.unavailable
    ? [{ part: "redis", reason: "is unavailable: each process counts limits for itself" }]
    : [];
}

async function webhookProblems(webhooks: HealthDeps["webhooks"]): Promise<Reason[]> {
  const { routerFailure, claimFailure } = (webhooks && (await answerInTime(webhooks()))) ?? {};
  return [
    ...(routerFailure ? [{ part: "webhook router", reason: routerFailure }] : []),
    ...(claimFailure ? [{ part: "webhook deliveries", reason: claimFailure }] : []),
  ];
}

/** Named until they are settled; everything else is answered as it should be. */
function setAsideProblems(part: string, setAside: SetAside | undefined): Reason[] {
  return setAside?.count ? [{ part, reason: describeSetAside(setAside, MOST_NAMED) }] : [];
}

/**
 * `degraded`: what interrupts the folding, events that were set aside, projections whose queries read another build until
 * the present one is active, and late counts of clicks, which analytics tell by `as_of`.
 */
async function projectorProblems(
  projections: HealthDeps["projections"],
): Promise<Pick<Readiness, "reasons" | "degraded">> {
  const states = await inTime(CHECK_TIMEOUT_MS, projections().catch(messageOf));
  const none = (reason: string) => ({ reasons: [{ part: "projector", reason }], degraded: [] });
  if (!states) return none("does not answer");
  if (typeof states === "string") return none(states);
  if (states.length === 0) return none("has not started yet");
  const of = (statuses: GroupStatus[]) =>
    statuses.flatMap((status) => {
      const reason = projectionProblem(status);
      return reason === undefined ? [] : [{ part: `projections ${status.name}`, reason }];
    });
  return {
    reasons: of(states.filter((status) => !isAnswered(status))),
    degraded: [
      ...[...new Set(states.flatMap(({ failure }) => failure ?? []))].map((reason) => ({
        part: "projections",
        reason,
      })),
      ...of(states.filter(isAnswered)),
      ...states.flatMap(({ name, setAside }) => setAsideProblems(`projections ${name}`, setAside)),
    ],
  };
}

/**
 * Whether requests are answered as well here as elsewhere, whatever the problem is: queries have something complete or dated,
 * or what they had was of another log, and look-ups go to the streams until it is folded again.
 */
function isAnswered({ name, answers, waitsFor, failure, building, isOfOtherLog }: GroupStatus): boolean {
  // Its lateness has a cause that is told, which lasts wherever requests are sent instead.
  if (failure !== undefined && answers !== "nothing") return true;
  if (isOfOtherLog || building?.because !== undefined) return true;
  if (answers === "other") return true;
  return answers === "this" && !waitsFor && name === clicks.name;
}

function projectionProblem(status: GroupStatus): string | undefined {
  const { waitsFor, lagMs, answers, building, isOfOtherLog } = status;
  if (waitsFor) return `wait for a newer program, to fold ${waitsFor.type} at ${waitsFor.position}`;
  if (isOfOtherLog) return "are of another log, and are folded anew";
  if (building?.because) return `are folded anew, as ${building.because}${catchingUp(status)}`;
  if (lagMs > LATE_MS) return `are ${Math.round(lagMs / 1_000)} s behind${catchingUp(status)}`;
  if (answers === "nothing") return `are built for the first time${catchingUp(status)}`;
  return answers === "other" ? `are answered from an earlier build${catchingUp(status)}` : undefined;
}

/** Progress with rate and time left of a build in the making, else the folded share of the log. */
function catchingUp({ building, position, head }: GroupStatus): string {
  if (building?.progress.events) return `, catching up: ${describeProgress(building.progress)}`;
  return head ? `, ${Math.floor(logProgress(position ?? "0", head) * 100)} % of the log folded` : "";
}

/** Undefined for a failure too, which others report. */
async function answerInTime<T>(answer: Promise<T>): Promise<T | undefined> {
  return await inTime(
    CHECK_TIMEOUT_MS,
    answer.catch(() => undefined),
  );
}

async function problemOf(part: string, check: Promise<unknown>): Promise<Reason[]> {
  const failure = (error: unknown) => (error instanceof StoreFailed ? error.message : "is unavailable");
  const answer = check.then(() => "answers").catch(failure);
  const outcome = await inTime(CHECK_TIMEOUT_MS, answer);
  return outcome === "answers" ? [] : [{ part, reason: outcome ?? "does not answer" }];
}
