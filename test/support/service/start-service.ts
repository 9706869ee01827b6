// The real service, alone in this process or as a cluster of processes, and how tests talk to it.

import { setTimeout as pause } from "node:timers/promises";
import type { KeyTermsRequest } from "../../../src/commands/account/accept-key-terms.ts";
import { deactivateKey, issueKey, rotateKey } from "../../../src/commands/account/change-keys.ts";
import { openAccount } from "../../../src/commands/account/sign-up.ts";
import { changeTier } from "../../../src/commands/account/tier.ts";
import { addDomain, removeDomain, verifyDomain } from "../../../src/commands/domains/change-domains.ts";
import { runtimeDeps } from "../../../src/commands/runtime-deps.ts";
import { type Config, parseConfig } from "../../../src/config/config.ts";
import type { LinkClicked } from "../../../src/events/catalogue.ts";
import { CATEGORY } from "../../../src/events/streams.ts";
import type { Tier } from "../../../src/events/vocabulary.ts";
import { createLogger } from "../../../src/runtime/logging.ts";
import { openService } from "../../../src/service/service.ts";
import type { Backend } from "../../../src/service/stores/backend.ts";
import { operator } from "../commands/command-deps.ts";
import { loggedEvents } from "../event-store/logged-events.ts";
import { temporaryFolder } from "../runtime/temporary-folder.ts";
import { until } from "../runtime/until.ts";
import { type Answer, type Ask, send } from "./ask.ts";

export type Member = { accountId: string; key: string; keyId: string };
export type TestService = Awaited<ReturnType<typeof startTestService>>;

/** Short links begin with this, whatever port the service got. */
export const BASE_URL = "http://localhost";

/** Plans are offered, and who signs up is on the Free one, unless a test says otherwise. */
const SELLING = { PLAN_PRICE: "9 USD a month" };

/** One service, whatever stands behind it. */
export type Running = {
  config: Config;
  /** What tests write and look up with. */
  backend: Backend;
  /** Of one process; the others are met through `ask`. */
  port: number;
  /** Every line the service wrote, at the level given. */
  logged: string[];
  ask<T>(path: string, given: Ask): Promise<Answer<T>>;
  stop(): Promise<void>;
};

/**
 * In this process; with TEST_TOPOLOGY=cluster as several processes on real servers, which take turns at answering; with
 * TEST_TOPOLOGY=workers as `--workers 2`, without the clock.
 * `clock`: what rate windows, links and analytics go by.
 */
export async function startTestService(environment: Record<string, string> = {}, clock?: () => Date) {
  const running = onCluster() ? await sharedOrOwn(environment, clock) : await startHere(environment, clock);
  const { config, backend, port, stop } = running;
  const deps = {
    ...runtimeDeps,
    ...(clock && { clock }),
    eventStore: backend.eventStore,
    secrets: backend.secrets,
    keyPrefix: config.keyPrefix,
    limits: config.limits,
    baseHost: config.baseHost,
  };

  let accounts = 0;

  const ask = <T = Record<string, unknown>>(path: string, given: Ask = {}): Promise<Answer<T>> =>
    onCluster() ? untilAvailable(() => running.ask<T>(path, given)) : running.ask<T>(path, given);

  const post = <T = Record<string, unknown>>(
    path: string,
    key: string | undefined,
    body: unknown,
    more: Ask = {},
  ) => ask<T>(path, { method: "POST", body, ...(key === undefined ? {} : { key }), ...more });

  return {
    url: `http://127.0.0.1:${port}`,
    port,
    config,
    backend,
    get logged() {
      return running.logged;
    },
    ask,
    post,
    /** The slug of a new link. */
    async shorten(key: string, body: object): Promise<string> {
      const made = await post<{ slug: string }>("/api/v1/shorten", key, body);
      if (made.status !== 201) throw new Error(`No link: ${made.status} ${made.text}`);
      return made.body.slug;
    },
    /** As the log has them. */
    async clicksOf(slug: string) {
      const categories = [CATEGORY.clicks];
      const events = await loggedEvents(backend.eventStore, { categories, limit: 10_000 });
      const clicks = events.map(({ data }) => data as LinkClicked["data"]);
      return clicks.filter(({ link }) => link === `localhost/${slug}`);
    },
    /** An account of the tier with one active key. */
    async member(tier: Tier): Promise<Member> {
      accounts += 1;
      // Other files may have members on the same service.
      const email = `member-${onCluster() ? crypto.randomUUID() : accounts}@example.com`;
      const { accountId } = await openAccount(deps, operator, { email, tier });
      const { key, keyId } = await issueKey(deps, operator, accountId, {});
      return { accountId, key, keyId };
    },
    issueKey: (accountId: string, terms: KeyTermsRequest & { personId?: string } = {}) =>
      issueKey(deps, operator, accountId, terms),
    rotateKey: (accountId: string, keyId: string, overlapHours?: number) =>
      rotateKey(deps, operator, accountId, keyId, { overlapHours }),
    deactivateKey: (accountId: string, keyId: string) => deactivateKey(deps, operator, accountId, keyId),
    changeTier: (accountId: string, tier: Tier) => changeTier(deps, operator, accountId, tier),
    /** Adds a custom domain; verified unless told otherwise. Answers its id, empty while unverified. */
    async domain(accountId: string, hostname: string, options = { verify: true }): Promise<string> {
      await addDomain(deps, operator, accountId, hostname);
      if (!options.verify) return "";
      const noDns = { ...deps, resolveTxt: async () => [] };
      return (await verifyDomain(noDns, operator, accountId, hostname, { skipDns: true })).domainId;
    },
    removeDomain: (accountId: string, hostname: string) => removeDomain(deps, operator, accountId, hostname),
    stop,
  };
}

/** Tries again as a client would that is told to: on a busy machine a projector may be seconds behind. */
async function untilAvailable<T>(ask: () => Promise<Answer<T>>): Promise<Answer<T>> {
  let answer = await ask();
  await until("an answer other than 503", async () => {
    if (answer.status !== 503 || answer.headers["retry-after"] === undefined) return true;
    await pause(Number(answer.headers["retry-after"]) * 1_000);
    answer = await ask();
    return false;
  });
  return answer;
}

/** Whether the tests run on several processes; what reaches into the service's process can't then. */
export function onCluster(): boolean {
  return process.env.TEST_TOPOLOGY === "cluster" || onWorkers();
}

function onWorkers(): boolean {
  return process.env.TEST_TOPOLOGY === "workers";
}

/** By their settings: services on several processes that further files of the same run are given, too. */
const shared = new Map<string, Promise<Running>>();

async function sharedOrOwn(environment: Record<string, string>, clock?: () => Date): Promise<Running> {
  if (clock) return await startOnTopology(environment, clock);
  const settings = JSON.stringify(environment);
  const starting = shared.get(settings) ?? startOnTopology(environment);
  shared.set(settings, starting);
  return { ...(await starting), stop: async () => undefined };
}

/** When the last test of the file has ended. */
export async function stopShared(): Promise<void> {
  for (const starting of shared.values()) await (await starting).stop();
  shared.clear();
}

async function startOnTopology(environment: Record<string, string>, clock?: () => Date): Promise<Running> {
  const settings = { BASE_URL, ...SELLING, ...environment };
  if (onWorkers()) return await (await import("./worker-service.ts")).startOnWorkers(settings);
  return await (await import("../cluster/cluster-service.ts")).startOnCluster(settings, clock);
}

async function startHere(environment: Record<string, string>, clock = runtimeDeps.clock): Promise<Running> {
  const folder = await temporaryFolder();
  const config = parseConfig({
    PORT: "0",
    BASE_URL,
    DATA_DIR: folder.path,
    LOG_LEVEL: "info",
    ...SELLING,
    ...environment,
  });
  const logged: string[] = [];
  const log = createLogger(config.logLevel, { write: (line: string) => void logged.push(line) });
  const service = await openService(config, log, { clock });
  const port = Number(new URL(service.url).port);
  // The projector's first word: from here on a wait is for what the test did, not for the start.
  const isReady = async () => (await send(port, "/health/ready", {})).status === 200;
  await until("the service to be ready", isReady, { everyMs: 10 });
  return {
    config,
    backend: service.backend,
    port,
    logged,
    ask: (path, given) => send(port, path, given),
    async stop() {
      await service.stop();
      await folder.remove();
    },
  };
}
