// One look at all parts of this process and its stores, each for a second at most: readiness, status, metrics and console judge
// by it.
import { statfs } from "node:fs/promises";
import type { VerificationRun } from "../../audit/verification-runs.ts";
import { ALL_CATEGORIES, SEALS_STREAM } from "../../events/streams.ts";
import type { GroupStatus } from "../../projections/builds/status.ts";
import type { ClickGap } from "../../projections/definitions/click-gaps.ts";
import { gapsBetween } from "../../queries/analytics/gaps.ts";
import { listSeals } from "../../queries/audit/list-seals.ts";
import type { RecorderStatus } from "../../redirect/clicks/recorder.ts";
import type { RedirectStats } from "../../redirect/http/follow-link.ts";
import { atMostEvery } from "../../runtime/at-most-every.ts";
import { messageOf } from "../../runtime/errors.ts";
import { inTime } from "../../runtime/pause.ts";
import type { DiscoveryState } from "../../sign-in/oidc/oidc-client.ts";
import { StoreFailed } from "../../stores/connections/errors.ts";
import type { LogHealth } from "../../stores/coordination/log-health.ts";
import type { SetAside } from "../../stores/coordination/set-aside.ts";
import { msBehind } from "../../stores/event-store/next-event.ts";
import { type EventStore, START } from "../../stores/event-store/port.ts";
import type { ReadStore } from "../../stores/read-store/port.ts";
import { type RestingWebhook, restingReceivers } from "../../webhooks/owner-tools/resting-receiver.ts";
import { type DeliveryQueue, setAsideIn } from "../../webhooks/queue/queue.ts";
import type { WebhooksStatus } from "../../webhooks/run-webhooks.ts";
import type { Roles } from "../roles/role.ts";
import type { RoleProblem } from "../threads/background.ts";

/** What a process knows of itself without a call; a member is undefined where it has no such part. */
export type ProcessState = {
  roles: Roles;
  log: ReturnType<LogHealth["problems"]>;
  redisUnavailable: boolean | undefined;
  /** Why limits count anew, or can't be counted. */
  limits: string | undefined;
  redirects: RedirectStats | undefined;
  /** Of the roles that answer no request. */
  roleProblems: readonly RoleProblem[];
  /** What the provider that people sign in at said last. */
  provider: DiscoveryState | undefined;
};

export type ObservedParts = {
  processState: () => ProcessState;
  eventStore: Pick<EventStore, "head" | "read" | "readAll">;
  readStore: ReadStore;
  deliveryQueue: Pick<DeliveryQueue, "routed" | "streaks">;
  projections: () => Promise<GroupStatus[]>;
  /** Number of events that a group of projections has still to fold, at most 1,000. */
  eventsBehind: (status: GroupStatus) => Promise<number>;
  /** Undefined without the redirect role. */
  recorder: (() => Promise<RecorderStatus>) | undefined;
  /** Whether this process has read the log, ever. */
  wasLogRead: LogHealth["wasRead"];
  /** Undefined without the webhooks role. */
  webhooks: (() => Promise<WebhooksStatus | undefined>) | undefined;
  dataDir: string;
  sealKeys: readonly string[];
  /** The last verification from the console; undefined where there is none. */
  verification: (() => Promise<VerificationRun | undefined>) | undefined;
  clock: () => Date;
};

/** What was seen; a member is undefined where the part did not answer, or this process has none. */
export type Seen = ProcessState & {
  /** Why a store can't be asked. `isNeverRead`: the event store has refused its user since the start. */
  eventStore: string | undefined;
  isNeverRead: boolean;
  readStore: string | undefined;
  recorder: RecorderStatus | undefined;
  /** Or why it is not known. */
  projections: GroupStatus[] | string;
  routerSetAside: SetAside | undefined;
  webhooks: WebhooksStatus | undefined;
  /** Bytes of the disk of `DATA_DIR`. */
  disk: { free: number; size: number } | undefined;
};

/** What costs more, and is looked at for the console only. */
export type SeenByOperator = {
  /** `unsealedMs`: age of the oldest event without a seal. */
  seals: { problem: string | null; unsealedMs: number } | undefined;
  verification: VerificationRun | undefined;
  resting: RestingWebhook[] | undefined;
  gaps: ClickGap[] | undefined;
};

const TIMEOUT_MS = 1_000;
const GAPS_OF_MS = 7 * 86_400_000;
/** A seal alone waits for what comes after it, and for no other seal. */
const SEALED_SOON = ALL_CATEGORIES.filter((category) => category !== SEALS_STREAM);

type Look<T> = () => Promise<{ value?: T; error?: unknown }>;

export type Observer = ReturnType<typeof observer>;

export function observer(parts: ObservedParts) {
  const { eventStore, readStore, deliveryQueue, clock, sealKeys } = parts;
  const head = bounded(() => eventStore.head());
  const checkpoints = bounded(() => readStore.checkpoints());
  const projections = bounded(parts.projections);
  const routed = bounded(() => deliveryQueue.routed());
  const recorder = parts.recorder && bounded(parts.recorder);
  const webhooks = parts.webhooks && bounded(parts.webhooks);
  const disk = bounded(() => statfs(parts.dataDir));
  const behind = bounded(async () => {
    const statuses = await parts.projections();
    return await Promise.all(
      statuses.map(async (status) => [status.name, await parts.eventsBehind(status)] as const),
    );
  });
  const seals = bounded(async () => {
    const [seal] = (await listSeals({ eventStore, sealKeys }, { limit: 1 })).seals;
    const after = seal?.position ?? START;
    const { events } = await eventStore.readAll({ after, categories: SEALED_SOON, limit: 1 });
    return { problem: seal?.problem ?? null, unsealedMs: msBehind(events[0], clock()) };
  });
  const verification = parts.verification && bounded(parts.verification);
  const resting = bounded(() => restingReceivers({ readStore, deliveryQueue, clock }));
  const gaps = bounded(() =>
    gapsBetween(readStore, clock().getTime() - GAPS_OF_MS, Number.POSITIVE_INFINITY),
  );

  return {
    async look(): Promise<Seen> {
      const [log, documents, folded, place, clicks, sent, space] = await Promise.all([
        ...([head(), checkpoints(), projections(), routed()] as const),
        ...([recorder?.(), webhooks?.(), disk()] as const),
      ]);
      const { value: statuses = [], error } = folded;
      return {
        ...parts.processState(),
        eventStore: unavailable(log.error),
        isNeverRead: log.error instanceof StoreFailed && !parts.wasLogRead(),
        readStore: unavailable(documents.error),
        recorder: clicks?.value,
        projections:
          error !== undefined ? messageOf(error) : statuses.length > 0 ? statuses : "has not started yet",
        routerSetAside: place.error === undefined ? setAsideIn(place.value) : undefined,
        webhooks: sent?.value,
        disk: space.value && {
          free: space.value.bavail * space.value.bsize,
          size: space.value.blocks * space.value.bsize,
        },
      };
    },

    async lookAsOperator(): Promise<SeenByOperator> {
      const [sealed, run, failing, lost] = await Promise.all([seals(), verification?.(), resting(), gaps()]);
      return { seals: sealed.value, verification: run?.value, resting: failing.value, gaps: lost.value };
    },

    /** Events that each group of projections has still to fold; undefined where that takes too long. */
    eventsBehind: async () => (await behind()).value,
  };
}

const NO_ANSWER = new Error("does not answer");

/** Ends after a second with an error, while the work goes on; it is not begun a second time beside itself. */
function bounded<T>(work: () => Promise<T>): Look<T> {
  const working = atMostEvery(0, () =>
    work().then(
      (value) => ({ value }),
      (error: unknown) => ({ error }),
    ),
  );
  return async () => (await inTime(TIMEOUT_MS, working())) ?? { error: NO_ANSWER };
}

function unavailable(error: unknown): string | undefined {
  if (error === undefined) return undefined;
  return error instanceof StoreFailed || error === NO_ANSWER ? messageOf(error) : "is unavailable";
}
