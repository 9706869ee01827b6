// The background thread as others see it: what works beside requests, so that none of them waits for it.
import type { Config } from "../../config/config.ts";
import type { GroupStatus } from "../../projections/builds/status.ts";
import type { BasicLogger } from "../../runtime/logging.ts";
import { inTime } from "../../runtime/pause.ts";
import { remoteMethods } from "../../runtime/threads/remote.ts";
import { threadOf } from "../../runtime/threads/thread.ts";
import { storeError } from "../../stores/connections/errors.ts";
import type { WebhooksStatus } from "../../webhooks/run-webhooks.ts";
import type { ProcessRole } from "../roles/role.ts";

/** `roles`: those of BACKGROUND_ROLES that this process has. */
export type BackgroundData = { config: Config; roles: ProcessRole[] };

/**
 * Why a role of this process does not work. `unready`: one of its leases has had no answer for ten seconds, so nobody may be
 * doing its work. `degraded`: such as a file that can't be opened, while others do the work.
 */
export type RoleProblem = { role: string; reason: string; level: "unready" | "degraded" };

/** `status`: undefined while it can't be read. */
export type Reported<Status> = { status: Status | undefined; roleProblems: RoleProblem[] };

/** What the thread serves. */
export type BackgroundRoles = {
  projections(): Promise<Reported<GroupStatus[]>>;
  webhooks(): Promise<Reported<WebhooksStatus>>;
  /** Ends what appends, but for the seals. `settleMs`: for deliveries in flight; then they are returned to the queue. */
  stopAppending(settleMs: number): Promise<void>;
};

const METHODS = ["projections", "webhooks", "stopAppending"] as const;
const ANSWER_WITHIN_MS = 500;
/** Share of the time of `stopAppending` for deliveries in flight. */
const SETTLE_SHARE = 0.7;

export type Background = {
  /** Undefined when the thread does not answer within half a second, as during a long commit, or can't read it. */
  projections(): Promise<GroupStatus[] | undefined>;
  /** The same; then the last known one, if there is one. */
  webhooks(): Promise<WebhooksStatus | undefined>;
  /** As last reported. */
  roleProblems(): readonly RoleProblem[];
  /** Resolves when deliveries are settled and jobs have ended. */
  stopAppending(withinMs: number): Promise<void>;
  /** Resolves when the last events are folded and sealed, and the thread has ended. */
  close(withinMs: number): Promise<void>;
};

/** Runs until `close`; a thread that dies is started again. */
export function startBackground(data: BackgroundData, log: BasicLogger): Background {
  const file = new URL("./background-thread.ts", import.meta.url);
  const thread = threadOf({ file, name: "background", data, toError: storeError, log });
  const roles = remoteMethods<BackgroundRoles, (typeof METHODS)[number]>(thread, "roles", METHODS);
  let roleProblems: readonly RoleProblem[] = [];
  let webhooks: WebhooksStatus | undefined;
  const ask = async <Status>(asking: Promise<Reported<Status>>): Promise<Status | undefined> => {
    const answer = await inTime(
      ANSWER_WITHIN_MS,
      asking.catch(() => undefined),
    );
    if (!answer) return undefined;
    roleProblems = answer.roleProblems;
    return answer.status;
  };
  thread.start().catch(() => undefined);
  return {
    projections: () => ask(roles.projections()),
    async webhooks() {
      webhooks = (await ask(roles.webhooks())) ?? webhooks;
      return webhooks;
    },
    roleProblems: () => roleProblems,
    stopAppending: (withinMs) => roles.stopAppending(withinMs * SETTLE_SHARE),
    close: thread.close,
  };
}
