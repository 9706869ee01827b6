// The singleton jobs of the projector role, in the background thread: each runs at an interval in one process at a time, which
// holds the job's lease.
import { txtResolver } from "../../../commands/domains/hostname.ts";
import { urlSafety } from "../../../commands/links/url-safety.ts";
import { smtpMailer } from "../../../commands/mail/mailer.ts";
import { runtimeDeps } from "../../../commands/runtime-deps.ts";
import { stopLinks } from "../../../commands/sharing/weekly-mails.ts";
import { type Config, secretKeysOf } from "../../../config/config.ts";
import { ProjectionNotBuilt } from "../../../projections/builds/errors.ts";
import { accountsOf } from "../../../queries/people.ts";
import { whenProjected } from "../../../queries/read-your-writes.ts";
import { messageOf } from "../../../runtime/errors.ts";
import type { BasicLogger } from "../../../runtime/logging.ts";
import { pause } from "../../../runtime/pause.ts";
import { type HoldLeaseDeps, holdLease, JOB_LEASE } from "../../../stores/coordination/hold-lease.ts";
import type { EventStore } from "../../../stores/event-store/port.ts";
import type { ReadStore } from "../../../stores/read-store/port.ts";
import type { EncryptedSecrets } from "../../../stores/secrets/encrypted-secrets.ts";
import { accountClosings } from "../../jobs/account-closing.ts";
import { checkDueDomains } from "../../jobs/domain-checks.ts";
import { linkEnds } from "../../jobs/link-ends.ts";
import { recheckWaiting } from "../../jobs/url-rechecks.ts";
import { sendWeeklyMails } from "../../jobs/weekly-mails.ts";

type JobsDeps = {
  config: Config;
  eventStore: EventStore;
  readStore: ReadStore;
  secrets: EncryptedSecrets;
  log: BasicLogger;
};

type Lease = Omit<HoldLeaseDeps, "name">;

export type SingletonJob = {
  /** Names the lease too. */
  name: string;
  /** Pause between two runs. */
  intervalMs: number;
  run: (signal: AbortSignal) => Promise<unknown>;
};

/** How long a run that closes accounts waits for the links projection; afterwards the next run continues. */
const MAX_WAIT_MS = 5_000;

/** Until the signal aborts. */
export async function runJobs(
  { config, ...stores }: JobsDeps,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  const deps = { ...stores, ...runtimeDeps };
  const { readStore, sleep } = deps;
  const jobs: SingletonJob[] = [
    {
      name: "domain-checks",
      intervalMs: 10 * 60_000,
      run: (until) => checkDueDomains({ ...deps, resolveTxt: txtResolver(config.dnsServers) }, until),
    },
    {
      name: "account-closing",
      intervalMs: 5_000,
      run: accountClosings({
        ...deps,
        accountsOf: accountsOf(deps),
        isShown: (position) => whenProjected({ readStore, sleep }, position, () => MAX_WAIT_MS),
      }),
    },
    {
      name: "link-ends",
      intervalMs: 5_000,
      run: linkEnds(deps),
    },
    secretsSweep(deps),
  ];
  const rechecks = { ...deps, urlSafety: urlSafety({ ...config, log: deps.log }) };
  // Without Safe Browsing no URL waits, as the local list of unsafe hosts is always available.
  if (config.safeBrowsingKey)
    jobs.push({
      name: "url-rechecks",
      intervalMs: 60_000,
      run: (until) => recheckWaiting(rechecks, until),
    });
  const mailer = smtpMailer(config);
  if (mailer) {
    signal.addEventListener("abort", () => mailer.close());
    const mailing = { ...deps, mailer, baseUrl: config.baseUrl, stopLinks: stopLinks(secretKeysOf(config)) };
    jobs.push({
      name: "weekly-mails",
      intervalMs: 60_000,
      run: (until) => sendWeeklyMails(mailing, until),
    });
  }
  await Promise.all(jobs.map((job) => runSingletonJob(job, lease, signal)));
}

/**
 * Deletes expired secrets (sessions, tokens, idempotent answers, uses of keys), so that they get into no backup; reads ignore
 * them already. The first run encrypts secrets that are under SECRET_KEY_PREVIOUS.
 */
function secretsSweep({
  log,
  clock,
  secrets,
}: Pick<JobsDeps, "log" | "secrets"> & { clock: () => Date }): SingletonJob {
  let isReencrypted = false;
  return {
    name: "secrets-sweep",
    intervalMs: 60_000,
    async run(signal) {
      if (!isReencrypted) {
        const renewed = await secrets.reencrypt(clock(), signal);
        if (renewed > 0) log.info({ secrets: renewed }, "encrypted secrets under the present SECRET_KEY");
        isReencrypted = !signal.aborted;
      }
      await secrets.sweep(clock());
    },
  };
}

/** Until the signal aborts; then the lease is given up. */
export async function runSingletonJob(
  { name, intervalMs, run }: SingletonJob,
  lease: Lease,
  signal: AbortSignal,
): Promise<void> {
  /** One log line an outage. */
  let failure: string | undefined;
  const runOnce = async (until: AbortSignal) => {
    try {
      await run(until);
      failure = undefined;
    } catch (err) {
      // What it reads is made for the first time, as in a new service.
      if (err instanceof ProjectionNotBuilt || until.aborted) return;
      if (failure !== messageOf(err)) lease.log.warn({ err }, `${name} failed, the next run tries again`);
      failure = messageOf(err);
    }
  };
  const runRepeatedly = async (until: AbortSignal) => {
    while (!until.aborted) {
      await runOnce(until);
      await pause(intervalMs, until);
    }
  };
  await holdLease({ ...lease, ...JOB_LEASE, name }, runRepeatedly, signal);
}
