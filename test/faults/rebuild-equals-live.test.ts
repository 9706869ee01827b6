// A log of varied events whose service is killed again and again: a rebuild equals what it had folded live, and queries
// answer while the rebuild runs.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as pause } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { withdrawClicks } from "../../src/commands/withdrawals/withdraw-clicks.ts";
import { parseConfig } from "../../src/config/config.ts";
import type { LinkClicked } from "../../src/events/catalogue.ts";
import { CLICK_KINDS, DEVICE_TYPES } from "../../src/events/vocabulary.ts";
import { queriedBuild } from "../../src/projections/builds/builds.ts";
import { readBuilds } from "../../src/projections/builds/builds-document.ts";
import type { VerifiedGroup } from "../../src/projections/builds/verify-build.ts";
import { checkpointName } from "../../src/projections/fold/build.ts";
import { clicks as clickGroup, projectionGroups } from "../../src/projections/groups.ts";
import { matchingClicks } from "../../src/queries/audit/matching-clicks.ts";
import { type Backend, openBackend } from "../../src/service/stores/backend.ts";
import { onOwnServers, ownServers } from "../support/cluster/own-servers.ts";
import { operator } from "../support/commands/command-deps.ts";
import { linkClicked } from "../support/event-store/stored-events.ts";
import { effort, isLong } from "../support/runtime/effort.ts";
import { printCounts } from "../support/runtime/print-counts.ts";
import { append } from "../support/runtime/stores.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import { childEnvironment } from "../support/service/child-environment.ts";
import {
  accountWithKeys,
  type Environment,
  instanceOf,
  runCommand,
  type ServiceProcess,
  startService,
} from "../support/service/service-process.ts";

/** `queries`: before the rebuild, and at most during it. */
const A_FEW = { clicks: 4_000, kills: 4, queries: { before: 100, during: 200 } };
const MANY = { clicks: 40_000, kills: 10, queries: { before: 700, during: 1_500 } };
const AN_APPEND = 500;
const LINKS = 100;
const DAYS = 4;
/** An account may ask 500 times an hour with each of its keys: for a third of it before, the rest during the rebuild. */
const KEYS = effort(1, 5);
const PATIENT_MS = 600_000;
/** Each look asks a server several times, which may be the slowest part of all. */
const SELDOM_MS = 250;

describe("on SQLite", () =>
  rebuildEqualsLive(async () => ({ environment: {}, stop: async () => undefined })));

onOwnServers(() => {
  describe.runIf(isLong)("on servers", () => rebuildEqualsLive(ownServers, A_FEW));
});

function rebuildEqualsLive(
  startStores: () => Promise<{ environment: Environment; stop: () => Promise<void> }>,
  { clicks, kills, queries } = isLong ? MANY : A_FEW,
): void {
  let folder: TemporaryFolder;
  let stores: Awaited<ReturnType<typeof startStores>>;
  let instance: Environment;
  let backend: Backend;
  let service: ServiceProcess | undefined;
  let accountId: string;
  let keys: string[];
  let asked = 0;
  const withdrawals: { slug: string; withdrawalId: string; clicks: number }[] = [];
  let slugs: string[];

  beforeAll(async () => {
    folder = await temporaryFolder();
    stores = await startStores();
    instance = await instanceOf(folder.path, stores.environment);
    ({ accountId, keys } = await accountWithKeys(instance, "developer", KEYS));
    backend = await openBackend(parseConfig(instance));
    await backend.prepare();
    service = await startService(instance);
    slugs = await createLinks();
  }, PATIENT_MS);
  afterAll(async () => {
    await service?.stop();
    await backend?.close();
    await stores?.stop();
    await folder?.remove();
  }, PATIENT_MS);

  const ask = async <T>(path: string, body?: unknown, method = "POST"): Promise<T> => {
    const send = async () => {
      asked += 1;
      const headers = { "x-api-key": keys[asked % KEYS] ?? "", "content-type": "application/json" };
      return await fetch(`${service?.url}${path}`, {
        headers,
        ...(body === undefined ? {} : { method, body: JSON.stringify(body) }),
      });
    };
    let response = await send();
    // External ids are not given while documents are behind, as after a kill: callers try again.
    for (; body !== undefined && response.status === 503; response = await send()) await pause(1_000);
    expect(response.status).toBeLessThan(300);
    return (await response.json()) as T;
  };
  const createLinks = async () => {
    const links = Array.from({ length: LINKS }, (_, n) => ({
      url: `https://example.com/${n}`,
      ...(n % 2 && { title: `Link ${n}`, tags: ["even", `${n}`], max_clicks: 1_000_000 }),
    }));
    const { results } = await ask<{ results: { slug: string }[] }>("/api/v1/shorten/bulk", {
      links,
    });
    return results.map(({ slug }) => slug);
  };
  const changeLinks = async (kill: number) => {
    const rules = [{ when: { os: ["iOS"], share: 50 }, url: `https://example.com/rule/${kill}` }];
    const fields =
      kill % 2 ? { tags: null, rules, title: `After ${kill}` } : { rules: null, redirect_code: 302 };
    let links = slugs.map((slug, n) => ({
      slug,
      ...fields,
      ...(n < 5 && { external_id: `${kill} ${n}` }),
    }));
    const change = async () => {
      const { errors } = await ask<{ errors: { index: number }[] }>("/api/v1/links/bulk", { links }, "PATCH");
      const failed = new Set(errors.map(({ index }) => index));
      // Again those alone that had to wait for documents: a hundred each time would keep a slow server from getting there.
      links = links.filter((_, index) => failed.has(index));
      return links.length === 0;
    };
    await until("every link to be changed", change, { withinMs: PATIENT_MS, everyMs: 1_000 });
  };
  const appendClicks = async (from: number, count: number) => {
    let position = "";
    for (let at = from; at < from + count; at += AN_APPEND) {
      const clicks = Array.from({ length: AN_APPEND }, (_, n) => variedClick(at + n, slugs, accountId));
      ({ position } = await append(
        backend.eventStore,
        `clicks-abcdefabcd-2026030${1 + ((at / 1_000) % 3)}`,
        clicks,
      ));
    }
    return position;
  };
  const position = async () => {
    const build = queriedBuild(clickGroup, await readBuilds(backend.foldStore, clickGroup));
    const checkpoint = build && (await backend.foldStore.checkpoint(checkpointName(clickGroup, build)));
    return checkpoint?.more ? "" : (checkpoint?.position ?? "");
  };
  /** Without a service. */
  const withdraw = async (slug: string) => {
    const deps = { ...runtimeDeps, ...backend, matchingClicks: matchingClicks.bind(undefined, backend) };
    const request = {
      ...{ from: new Date("2026-03-01T00:00:00Z"), to: new Date("2026-03-03T12:00:00Z") },
      ...{ ipPrefix: "192.0.2.0/24", reason: "a test" },
    };
    const { baseHost: host } = parseConfig(instance);
    const withdrawal = await withdrawClicks(deps, operator, { host, slug }, request);
    withdrawals.push({ slug, withdrawalId: withdrawal.withdrawalId, clicks: withdrawal.clicks.counted });
  };
  const restoreFirst = async () => {
    const [first] = withdrawals.splice(0, 1);
    await runCommand(instance, "clicks", "restore", first?.slug ?? "", first?.withdrawalId ?? "");
  };
  const totalOf = async (slug: string) => {
    const { analytics } = await ask<{ analytics: { totalClicks: number } }>(`/api/v1/analytics/${slug}`);
    return analytics.totalClicks;
  };
  /** In milliseconds. */
  const queryTimes = async (most: number, isOver: () => boolean) => {
    const times: number[] = [];
    while (times.length < most && !isOver()) {
      const started = performance.now();
      await ask(`/api/v1/analytics/${slugs[times.length % LINKS]}`);
      times.push(performance.now() - started);
    }
    return times;
  };

  it(
    `a rebuild equals the live documents after ${clicks} clicks and ${kills} kills, and queries answer meanwhile`,
    async () => {
      const each = clicks / kills;
      let whileFolding = 0;
      for (let kill = 0; kill < kills; kill++) {
        const before = await position();
        await changeLinks(kill);
        await appendClicks(kill * each, each / 2);
        await until("the projector to be at work", async () => (await position()) > before, {
          withinMs: PATIENT_MS,
          everyMs: SELDOM_MS,
        });
        // The commit that ends the wait may hold every click until then; these come after it.
        const last = await appendClicks(kill * each + each / 2, each / 2);
        await service?.stop("SIGKILL");
        if ((await position()) < last) whileFolding += 1;
        // The killed projector has folded a part of the clicks that are withdrawn now.
        if (kill % 2 === 1) await withdraw(slugs[kill] ?? "");
        service = await startService(instance);
      }
      await restoreFirst();
      const head = await appendClicks(clicks, AN_APPEND);
      await until("all to be folded", async () => (await position()) >= head, {
        withinMs: PATIENT_MS,
        everyMs: SELDOM_MS,
      });

      const before = percentile99(await queryTimes(queries.before, () => false));
      const { ended, output } = rebuild(instance);
      let isOver = false;
      const times = queryTimes(queries.during, () => isOver);
      await ended;
      isOver = true;
      const during = percentile99(await times);
      const { builds } = JSON.parse(output());
      expect(builds).toHaveLength(projectionGroups.length);
      const events = builds.reduce((sum: number, built: { events: number }) => sum + built.events, 0);

      const rebuilt = await runCommand<{ ok: boolean; groups: VerifiedGroup[] }>(
        instance,
        ...["projections", "verify"],
      );
      await runCommand(instance, "projections", "rollback", ...projectionGroups.map(({ name }) => name));
      const live = await runCommand<typeof rebuilt>(instance, "projections", "verify");
      expect([live.ok, rebuilt.ok]).toEqual([true, true]);
      // Not how many: tables are of as many chunks as were written and merged.
      for (const { documents } of [...live.groups, ...rebuilt.groups]) expect(documents).toBeGreaterThan(0);

      let counted = 0;
      for (const slug of slugs) counted += await totalOf(slug);
      const withdrawn = withdrawals.reduce((sum, { clicks }) => sum + clicks, 0);
      expect(withdrawn).toBeGreaterThan(0);
      expect(counted).toBe(clicks + AN_APPEND - withdrawn);
      const p99 = { before: Math.round(before * 10) / 10, during: Math.round(during * 10) / 10 };
      printCounts("rebuild equals live", { kills, whileFolding, events, counted, withdrawn, ...p99 });
      expect(whileFolding).toBeGreaterThan(0);
    },
    PATIENT_MS,
  );
}

/** The command, as an operator gives it beside the running service. */
function rebuild(instance: Environment) {
  const env = childEnvironment(instance);
  const child = spawn(process.execPath, ["src/cli.ts", "projections", "rebuild", "--json"], {
    env,
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout.on("data", (chunk: Buffer) => {
    printed += chunk.toString();
  });
  return { ended: once(child, "close"), output: () => printed };
}

/** Kinds, places, programs, referrers and campaigns in all combinations; some values are those that break objects. */
function variedClick(n: number, slugs: readonly string[], accountId: string): LinkClicked {
  const slug = slugs[(n * 7) % slugs.length] ?? "";
  const day = 1 + (Math.floor(n / (A_FEW.clicks / DAYS)) % DAYS);
  const at = new Date(Date.UTC(2026, 2, day, n % 24, (n * 13) % 60, n % 60));
  return linkClicked({
    link: `localhost/${slug}`,
    accountId,
    at: at.toISOString(),
    kind: CLICK_KINDS[n % 3] ?? "click",
    device: DEVICE_TYPES[n % 5] ?? "unknown",
    browser:
      n % 4 === 3 ? undefined : { name: ["Firefox", "Chrome", "Safari"][n % 4] ?? "", version: `${n % 9}.0` },
    os: { name: ["Linux", "iOS", "Windows"][n % 3] ?? "" },
    country: ["FR", "DE", "JP", "US"][n % 5],
    city: `city ${n % 31}`,
    referrer: n % 11 === 0 ? undefined : `https://site-${n % 57}.example/`,
    utm: n % 4 === 0 ? { source: `s${n % 23}`, campaign: n % 8 === 0 ? "__proto__" : "spring" } : undefined,
    visitor: (n % 5_000).toString(16).padStart(16, "0"),
  });
}

function percentile99(times: number[]): number {
  return times.sort((a, b) => a - b)[Math.floor(times.length * 0.99)] ?? 0;
}
