// The parts of a service, a row each: what may be wrong with it, whom that affects, where it is dealt with, and its metrics.
// Readiness, the page of the status, the head of the console and the metrics are made from this table.
import type { Area, Problem } from "../../api/operations/problems.ts";
import { DEGRADED_AFTER_MS, type GroupStatus } from "../../projections/builds/status.ts";
import { describeProgress } from "../../projections/fold/progress.ts";
import { clicks } from "../../projections/groups.ts";
import { describeSetAside, type SetAside } from "../../stores/coordination/set-aside.ts";
import { logProgress } from "../../stores/event-store/log-progress.ts";
import type { Seen, SeenByOperator } from "./observe.ts";

/** Of a row; what the row says is left out. */
type Finding = Pick<Problem, "reason"> & Partial<Problem>;

export type MetricRow<T = Seen> = {
  /** Behind `linkledger_`. */
  name: string;
  help: string;
  /** Else a gauge. */
  isCounter?: boolean;
  /** Of several processes; by default `sum`. */
  aggregator?: "max" | "min" | "sum";
  /** With a label: a value each of its values. Nothing for what was not seen: the last value stays. */
  label?: "projection" | "outcome";
  value(seen: T): number | undefined | readonly (readonly [of: string, value: number])[];
};

type Part = {
  name: string;
  affects?: readonly Area[];
  at?: string;
  findings?(seen: Seen): (Finding | undefined | false)[];
  notices?(seen: SeenByOperator): (Finding | undefined | false)[];
  metrics?: readonly MetricRow[];
};

/** Of the events that a part has set aside; `projections status` names all. */
const MOST_NAMED = 100;
/** Less on the disk of `DATA_DIR` is told while there is time to act: ten million clicks; of a small disk a tenth. */
const FREE = { bytes: 1 << 30, share: 0.1 };
/** A seal comes within an hour; a long log takes some time more. */
const LATE_SEAL_MS = 4_500_000;
/** Of receivers that rest. */
const MOST_RECEIVERS = 10;

const because = (reason: string | undefined): Finding | undefined =>
  reason === undefined ? undefined : { reason };
const of = (name: string) => `/admin/projections/${encodeURIComponent(name)}`;

/**
 * Some problems degrade a process without making it unready: any store's for one that only redirects, the event store's for
 * one with a click journal, and those of projections for one without the projector role, as restarting it would not help; and
 * a log that can be read and not written, as redirects go on. One whose user the event store has refused since the start is
 * never ready: only an operator can mend that.
 */
function needs({ roles, recorder, isNeverRead, eventStore }: Seen) {
  const onlyRedirects = [...roles].every((role) => role === "redirect");
  const log = isNeverRead || !(onlyRedirects || recorder?.journal !== undefined);
  const level = (isNeeded: boolean) => (isNeeded ? "unready" : "degraded");
  return {
    log: level(log),
    documents: level(!onlyRedirects),
    projections: level(roles.has("projector") && (log || eventStore === undefined)),
  } as const;
}

export const PARTS: readonly Part[] = [
  {
    name: "event store",
    affects: ["changes", "numbers", "webhooks"],
    findings: (seen) => [
      seen.eventStore !== undefined && { reason: seen.eventStore, level: needs(seen).log },
      because(seen.log.write),
      seen.log.read !== undefined && { reason: seen.log.read, at: "/admin/seals" },
    ],
    metrics: [
      {
        name: "event_store_write_failing",
        help: "1 while the last write to the log failed: /health/ready says why",
        aggregator: "max",
        value: ({ log }) => Number(log.write !== undefined),
      },
      {
        name: "event_store_read_failing",
        help: "1 while a part of the log can't be read, which lasts until somebody acts: /health/ready says why",
        aggregator: "max",
        value: ({ log }) => Number(log.read !== undefined),
      },
    ],
  },
  {
    name: "read store",
    affects: ["links", "changes", "numbers"],
    findings: (seen) => [
      seen.readStore !== undefined && { reason: seen.readStore, level: needs(seen).documents },
    ],
  },
  { name: "secrets", affects: ["changes"], findings: ({ log }) => [because(log.secrets)] },
  {
    name: "disk",
    findings: ({ disk }) => [
      disk &&
        disk.free < Math.min(FREE.bytes, FREE.share * disk.size) && {
          reason: `has ${Math.floor(disk.free / 1e6)} MB left for DATA_DIR: free some space, or clicks can't be stored`,
        },
    ],
    metrics: [
      {
        name: "disk_free_bytes",
        help: "Free on the disk of DATA_DIR",
        aggregator: "min",
        value: ({ disk }) => disk?.free,
      },
    ],
  },
  {
    name: "redis",
    findings: ({ redisUnavailable }) => [
      redisUnavailable && { reason: "is unavailable: each process counts limits for itself" },
    ],
    metrics: [
      {
        name: "redis_up",
        help: "0 while Redis is unavailable: limits are counted per process",
        aggregator: "min",
        value: ({ redisUnavailable: away }) => (away === undefined ? undefined : Number(!away)),
      },
    ],
  },
  { name: "limits", findings: ({ limits }) => [because(limits)] },
  {
    name: "redirects",
    affects: ["links"],
    findings: ({ recorder }) => [
      recorder?.stall?.refuses && { reason: "are answered 503, as their clicks can't be stored" },
    ],
    metrics: [
      {
        name: "redirects_total",
        help: "Requests for a short link, by outcome",
        isCounter: true,
        label: "outcome",
        value({ redirects }) {
          const { notFound: not_found = 0, ...others } = redirects ?? {};
          return redirects && Object.entries({ ...others, not_found });
        },
      },
    ],
  },
  {
    name: "click recorder",
    affects: ["numbers"],
    findings: ({ recorder: { stall, unstored = 0, notRecorded } = {} as Partial<Recorder> }) => [
      stall &&
        !stall.refuses && {
          reason: `${unstored} clicks wait in memory, as they can't be stored: they are lost where this process ends`,
        },
      !!notRecorded?.untold && {
        reason: `${notRecorded.untold} clicks found no room in memory, and are lost`,
      },
    ],
    metrics: [
      {
        name: "clicks_waiting",
        help: "Clicks received that are neither in the event store nor in the journal",
        value: ({ recorder }) => recorder?.waiting,
      },
      {
        name: "clicks_unstored",
        help: "Of these, those whose redirects are answered",
        value: ({ recorder }) => recorder?.unstored,
      },
      clickTotal("recorded", "Clicks received by the recorder", ({ recorded }) => recorded),
      clickTotal(
        "committed",
        "Clicks that are in the event store or, on disk, in the journal",
        ({ committed }) => committed,
      ),
      clickTotal("lost", "Clicks that could not be made into an event", ({ lost }) => lost),
      clickTotal(
        "not_recorded",
        "Clicks of answered redirects for which there was no room while none could be stored",
        ({ notRecorded }) => notRecorded.hits,
      ),
      clickTotal(
        "writer_restarts",
        "Times the writer thread had ended",
        ({ writerRestarts }) => writerRestarts,
      ),
    ],
  },
  { name: "visitor salts", findings: ({ recorder }) => [because(recorder?.saltProblem)] },
  {
    name: "click journal",
    affects: ["numbers"],
    findings: ({ recorder }) => [
      recorder?.journal?.failure && {
        reason: `${recorder.journal.clicks} clicks wait on disk for the event store: ${recorder.journal.failure.message}`,
      },
      recorder?.journal?.isFull && { reason: "is full: clicks go to the event store at once" },
    ],
    metrics: [
      {
        name: "journal_clicks",
        help: "Clicks on disk that wait for the event store",
        value: ({ recorder }) => recorder && (recorder.journal?.clicks ?? 0),
      },
      {
        name: "journal_bytes",
        help: "Bytes of the clicks on disk that wait for the event store",
        value: ({ recorder }) => recorder && (recorder.journal?.bytes ?? 0),
      },
      {
        name: "journal_full",
        help: "1 when clicks find no room in the journal",
        value: ({ recorder }) => recorder && Number(recorder.journal?.isFull ?? false),
      },
    ],
  },
  {
    name: "projector",
    affects: ["numbers"],
    findings: (seen) => [
      typeof seen.projections === "string" && {
        reason: seen.projections,
        level: needs(seen).projections,
      },
    ],
  },
  {
    name: "projections",
    affects: ["numbers"],
    at: "/admin/projections",
    findings: (seen) => {
      const groups = groupsOf(seen);
      return [
        ...[...new Set(groups.map(({ failure }) => failure))].map(because),
        ...groups.map((group) => projectionProblem(group, needs(seen).projections)),
        ...groups.map(({ name, setAside }) => setAsideProblem(`projections ${name}`, setAside, of(name))),
      ];
    },
    metrics: [
      ofProjections("lag_seconds", "Age of the oldest event not yet folded", ({ lagMs }) => lagMs / 1_000),
      {
        ...ofProjections(
          "set_aside_events",
          "Events that could not be taken and were passed, until they are settled",
          ({ setAside }) => setAside.count,
        ),
        value: (seen) => [
          ...groupsOf(seen).map(({ name, setAside }) => [name, setAside.count] as const),
          ...(seen.routerSetAside ? [["webhooks-router", seen.routerSetAside.count] as const] : []),
        ],
      },
      ofProjections(
        "waits",
        "1 when the projection stands before an event of a newer program",
        ({ waitsFor }) => Number(waitsFor !== null),
      ),
      {
        ...ofProjections(
          "folded_events_total",
          "Events folded since the projector started",
          ({ processed }) => processed,
        ),
        isCounter: true,
        aggregator: "sum",
      },
    ],
  },
  {
    name: "webhook router",
    affects: ["webhooks"],
    findings: ({ webhooks, routerSetAside }) => [
      because(webhooks?.routerFailure),
      setAsideProblem("webhook router", routerSetAside, "/admin/projections"),
    ],
    metrics: [
      {
        name: "webhook_router_lag_seconds",
        help: "Age of the oldest event that is not routed yet",
        value: ({ webhooks }) => webhooks?.routerLagMs && webhooks.routerLagMs / 1_000,
      },
      {
        name: "webhook_router_failing",
        help: "1 while the router can't go on: /health/ready says why",
        value: ({ webhooks }) => webhooks && Number(webhooks.routerFailure !== undefined),
      },
    ],
  },
  {
    name: "webhook deliveries",
    affects: ["webhooks"],
    findings: ({ webhooks }) => [because(webhooks?.claimFailure)],
    metrics: [
      {
        name: "webhook_deliveries_pending",
        help: "Deliveries in the queue, due or waiting for their next attempt",
        value: ({ webhooks }) => webhooks?.queue?.pending,
      },
      {
        name: "webhook_deliveries_due",
        help: "Due deliveries, without those of paused webhooks and resting receivers",
        value: ({ webhooks }) => webhooks?.queue?.due,
      },
      {
        name: "webhook_due_lag_seconds",
        help: "Time since the oldest of these became due",
        value: ({ webhooks }) => webhooks?.queue && dueLag(webhooks.readAt, webhooks.queue.oldestDueAt),
      },
      {
        name: "webhook_deliveries_in_flight",
        help: "Deliveries being sent",
        value: ({ webhooks }) => webhooks?.inFlight,
      },
      {
        name: "webhook_receivers_resting",
        help: "Receivers that rest because they keep failing",
        value: ({ webhooks }) => webhooks?.resting,
      },
    ],
  },
  {
    name: "seals",
    at: "/admin/seals",
    notices: ({ seals, verification }) => [
      typeof seals?.problem === "string" && { reason: `can't be trusted: the newest is ${seals.problem}` },
      (seals?.unsealedMs ?? 0) > LATE_SEAL_MS && {
        reason: `cover nothing of the last ${Math.round((seals?.unsealedMs ?? 0) / 3_600_000)} hours: no process seals the log`,
      },
      verification?.result?.verdict === "problem" && {
        reason: `do not prove the log: ${verification.result.sentence}`,
      },
    ],
  },
  {
    name: "webhook receiver",
    notices: ({ resting = [] }) => [
      ...resting.slice(0, MOST_RECEIVERS).map(({ webhook: { url, accountId }, since, until }) => ({
        reason: `${URL.parse(url)?.host} has failed since ${minute(since)}, and rests until about ${minute(until)}`,
        at: `/admin/accounts/${accountId}`,
      })),
      resting.length > MOST_RECEIVERS && {
        part: "webhook receivers",
        reason: `${resting.length - MOST_RECEIVERS} more rest`,
      },
    ],
  },
  {
    name: "clicks",
    at: "/admin#gaps",
    notices: ({ gaps = [] }) => [
      gaps.length > 0 && {
        reason: `${gaps.reduce((sum, { hits }) => sum + hits, 0)} were not recorded in the last seven days, as nothing could store them`,
      },
    ],
  },
  {
    name: "sign-in",
    at: "/admin/provider",
    findings: ({ provider }) => [
      provider?.state === "failed" && { reason: `the provider can't be used: ${provider.why}` },
    ],
  },
  {
    name: "roles",
    findings: ({ roleProblems }) =>
      roleProblems.map(({ role: part, reason, level }) => {
        return { part, reason, level, affects: [part === "webhooks" ? "webhooks" : "numbers"] };
      }),
  },
];

type Recorder = NonNullable<Seen["recorder"]>;

const LEVELS = ["unready", "degraded", "notice"] as const;

/** Of all parts, those first for which this process is not ready; notices where the operator's look is given. */
export function problemsOf(seen: Seen, operator?: SeenByOperator): Problem[] {
  const all = PARTS.flatMap(({ name: part, affects = [], at, findings, notices }) => {
    const complete = (level: Problem["level"], rows: (Finding | undefined | false)[] = []) =>
      rows.flatMap((finding) => (finding ? [{ part, level, affects, at, ...finding }] : []));
    return [
      ...complete("degraded", findings?.(seen)),
      ...complete("notice", operator && notices?.(operator)),
    ];
  });
  return LEVELS.flatMap((level) => all.filter((problem) => problem.level === level));
}

function minute(at: string): string {
  return `${at.slice(0, 16).replace("T", " ")} UTC`;
}

function groupsOf({ projections }: Seen): GroupStatus[] {
  return typeof projections === "string" ? [] : projections;
}

function clickTotal(name: string, help: string, value: (status: Recorder) => number): MetricRow {
  return {
    name: `clicks_${name}_total`,
    help,
    isCounter: true,
    value: ({ recorder }) => recorder && value(recorder),
  };
}

function ofProjections(name: string, help: string, value: (status: GroupStatus) => number): MetricRow {
  const values = ({ projections }: Seen) =>
    typeof projections === "string"
      ? undefined
      : projections.map((status) => [status.name, value(status)] as const);
  // Each process reads the same from the stores.
  return { name: `projection_${name}`, help, aggregator: "max", label: "projection", value: values };
}

function dueLag(readAt: number, oldestDueAt: string | null): number {
  return oldestDueAt === null ? 0 : Math.max(0, readAt - Date.parse(oldestDueAt)) / 1_000;
}

/** Named until they are settled; everything else is answered as it should be. */
function setAsideProblem(part: string, setAside: SetAside | undefined, at: string): Finding | undefined {
  return setAside?.count ? { part, reason: describeSetAside(setAside, MOST_NAMED), at } : undefined;
}

/**
 * What interrupts the folding, projections whose queries read another build until the present one is active, and late counts of
 * clicks, which analytics tell by `as_of`, only degrade. `level`: of the others.
 */
function projectionProblem(status: GroupStatus, level: Problem["level"]): Finding | undefined {
  const reason = whatIsWrong(status);
  if (reason === undefined) return undefined;
  const isLate = status.answers !== "other" || status.lagMs > DEGRADED_AFTER_MS;
  return {
    part: `projections ${status.name}`,
    reason,
    at: of(status.name),
    level: isAnswered(status) ? "degraded" : level,
    ...(!isLate && { affects: [] }),
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

function whatIsWrong(status: GroupStatus): string | undefined {
  const { waitsFor, lagMs, answers, building, isOfOtherLog } = status;
  if (waitsFor) return `wait for a newer program, to fold ${waitsFor.type} at ${waitsFor.position}`;
  if (isOfOtherLog) return "are of another log, and are folded anew";
  if (building?.because) return `are folded anew, as ${building.because}${catchingUp(status)}`;
  if (lagMs > DEGRADED_AFTER_MS) return `are ${Math.round(lagMs / 1_000)} s behind${catchingUp(status)}`;
  if (answers === "nothing") return `are built for the first time${catchingUp(status)}`;
  return answers === "other" ? `are answered from an earlier build${catchingUp(status)}` : undefined;
}

/** Progress with rate and time left of a build in the making, else the folded share of the log. */
function catchingUp({ building, position, head }: GroupStatus): string {
  if (building?.progress.events) return `, catching up: ${describeProgress(building.progress)}`;
  return head ? `, ${Math.floor(logProgress(position ?? "0", head) * 100)} % of the log folded` : "";
}
