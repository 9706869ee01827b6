// What every role gets when it is opened.

import type { PasswordWork } from "../../commands/password-work.ts";
import type { Config } from "../../config/config.ts";
import type { RateLimits } from "../../limits/rate-limit.ts";
import type { CountVisits } from "../../redirect/visits/click-limit.ts";
import type { Logger } from "../../runtime/logging.ts";
import type { Close } from "../../runtime/stop/stop-in-stages.ts";
import type { Thread } from "../../runtime/threads/thread.ts";
import type { LogHealth } from "../../stores/coordination/log-health.ts";
import type { Counts } from "../../stores/counts/counts.ts";
import type { Backend } from "../stores/backend.ts";
import type { Roles } from "./role.ts";

/** What the processes of `--workers` do together (workers/primary.ts). */
export type WorkerGroup = {
  /** Whether this process takes the operator's commands: one of them does. */
  takesCommands: boolean;
  /** `catchUp`: called when another one has changed something; resolves when this process goes by it. */
  onFollow(catchUp: () => Promise<void>): void;
  /** Resolves when the others go by what is in the log now, or after a second. */
  othersFollow(): Promise<void>;
  /** Resolves at a stop, when the processes that answer HTTP have ended, or the primary has died. */
  othersEnded(): Promise<void>;
  /** `own`: the metrics of this process, as prom-client's `getMetricsAsJSON` answers. */
  answerMetrics(own: () => Promise<object[]>): void;
  /** Of all of them together, in Prometheus's text format. */
  metricsText(): Promise<string>;
  /** `stop`: called when the primary stops, or has died. */
  onStop(stop: () => void): void;
};

export type RoleContext = {
  config: Config;
  log: Logger;
  /** Wall clock of rate limits, links and analytics; tests set it. */
  clock: () => Date;
  backend: Backend;
  health: LogHealth;
  threads: { writer: Thread; reader: Thread };
  roles: Roles;
  /** Undefined where there is none. */
  redis: { readonly unavailable: boolean } | undefined;
  /** For all processes, and for this one while those are unavailable. */
  counts: Counts;
  rateLimits: RateLimits;
  /** Of links with `maxClicks`, for all processes. */
  countVisits: CountVisits;
  /** Of the accounts' passwords. */
  passwordWork: PasswordWork;
  /** Undefined for a process of its own. */
  group: WorkerGroup | undefined;
  /** Aborted when the stop begins: requests that are open are still answered. */
  stopping: AbortSignal;
  /** Registers a function that runs at the stop, concurrently with others: after the last request, before the stores close. */
  onStop: (close: Close) => void;
  /** Registers a function that runs once the others have ended, and with them all that appends: for what seals the log. */
  onLastAppend: (close: Close) => void;
};
