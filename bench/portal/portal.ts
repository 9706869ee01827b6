// `npm run bench portal`: the time that each page of the portal takes with a very large account, over HTTP.
import { fileURLToPath } from "node:url";
import { openBackend } from "../../src/backend.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { parseConfig } from "../../src/config.ts";
import { portalCookies } from "../../src/portal/shell/cookies.ts";
import { sessions } from "../../src/portal/shell/sessions.ts";
import { pause } from "../../src/runtime/pause.ts";
import { instanceOf, startService } from "../../test/support/service/service-process.ts";
import { quantile } from "../measure/statistics.ts";
import type { Options } from "../options.ts";
import type { Report } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import { benchSlug } from "../traffic/requests.ts";
import { type Seeded, withSeededPortal } from "./portal-seed.ts";

/** Limit of every page. */
const MAX_MS = 100;
const WARM_UPS = 3;
/** Pause between two forms: a person doesn't send them without one, and the projector commits at intervals. */
const FORM_PAUSE_MS = 500;
const CACHE = fileURLToPath(new URL("../../.cache", import.meta.url));

type Timed = { name: string; p50: number; p95: number; max: number };

/** Passes when every page stayed under 100 ms, the slowest answer too. */
export async function benchPortal(options: Options, report: Report): Promise<Outcome> {
  const { links = 100_000, clicks = 1_000_000, requests = 50 } = options;
  return await withSeededPortal(CACHE, { links, clicks }, report, async (seeded) => {
    const results = await timePages(seeded, requests);
    report.line(`${links} links, ${clicks} clicks in the account; ${requests} requests a page\n`);
    report.table([["page", "p50 ms", "p95 ms", "max ms"], ...results.map(row)]);
    return { passed: results.every(({ max }) => max < MAX_MS), measured: { pages: results } };
  });
}

async function timePages(seeded: Seeded, requests: number): Promise<Timed[]> {
  const cookie = await signIn(seeded);
  const instance = await instanceOf(seeded.dataDir);
  const service = await startService(instance);
  const results: Timed[] = [];
  try {
    for (const [name, path] of pages())
      results.push(await time(name, requests, () => get(service.url, path, cookie)));
    const form = await newLinkForm(service.url, cookie);
    results.push(await time("make a link, until it is in the list", requests, form, FORM_PAUSE_MS));
  } finally {
    await service.stop();
  }
  return results;
}

async function signIn({ dataDir, accountId }: Seeded): Promise<string> {
  const backend = await openBackend(parseConfig({ DATA_DIR: dataDir }), { offThread: false });
  try {
    const from = { browser: "bench", address: "127.0.0.0" };
    // The seeded account has no password, so its password epoch is "".
    const token = await sessions({ ...backend, clock: runtimeDeps.clock }).open(accountId, "", from);
    return `${portalCookies("http://localhost").session}=${token}`;
  } finally {
    await backend.close();
  }
}

function pages(): [name: string, path: string][] {
  const hot = `/portal/links/localhost/${benchSlug(0)}`;
  return [
    ["dashboard, 24 hours", "/portal?range=24h"],
    ["dashboard, 7 days", "/portal?range=7d"],
    ["dashboard, 30 days", "/portal?range=30d"],
    ["dashboard, 12 months", "/portal?range=12mo"],
    ["links, newest", "/portal/links"],
    ["links, page 100", "/portal/links?page=100"],
    ["links, most clicked", "/portal/links?sort=clicks"],
    ["links, most clicked, page 10", "/portal/links?sort=clicks&page=10"],
    ["search that finds many", "/portal/links?q=spring"],
    ["search that finds one old link", "/portal/links?q=products%2F17%3F"],
    ["search that finds nothing", "/portal/links?q=nowhere-to-be-found"],
    ["disabled links", "/portal/links?show=disabled"],
    ["deleted links", "/portal/links?show=deleted"],
    ["one link with its history", hot],
    ["analytics, 24 hours, 100,000 clicks", `${hot}/analytics?range=24h`],
    ["analytics, 30 days, 100,000 clicks", `${hot}/analytics?range=30d`],
    ["analytics, 12 months, 100,000 clicks", `${hot}/analytics?range=12mo`],
    ["API keys", "/portal/keys"],
    ["domains", "/portal/domains"],
    ["webhooks", "/portal/webhooks"],
    ["plan", "/portal/plan"],
    ["account", "/portal/account"],
  ];
}

async function get(url: string, path: string, cookie: string): Promise<string> {
  const response = await fetch(url + path, { headers: { cookie, accept: "text/html" }, redirect: "manual" });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`${path}: ${response.status} ${text.slice(0, 300)}`);
  return text;
}

/** Sends the form; the service answers when the link is in the documents. */
async function newLinkForm(url: string, session: string): Promise<() => Promise<unknown>> {
  let links = 0;
  return async () => {
    links += 1;
    const body = new URLSearchParams({ url: `https://example.com/new/${links}` });
    const headers = { cookie: session, accept: "text/html" };
    const response = await fetch(`${url}/portal/links`, {
      method: "POST",
      body,
      headers,
      redirect: "manual",
    });
    if (response.status !== 303) throw new Error(`new link: ${response.status} ${await response.text()}`);
    return response.arrayBuffer();
  };
}

async function time(
  name: string,
  requests: number,
  once: () => Promise<unknown>,
  betweenMs = 0,
): Promise<Timed> {
  const took: number[] = [];
  for (let n = -WARM_UPS; n < requests; n += 1) {
    if (betweenMs > 0) await pause(betweenMs + Math.random() * 100);
    const started = performance.now();
    await once();
    if (n >= 0) took.push(performance.now() - started);
  }
  took.sort((a, b) => a - b);
  const [p50, p95, max] = [0.5, 0.95, 1].map((q) => quantile(took, q)) as [number, number, number];
  return { name, p50, p95, max };
}

function row({ name, p50, p95, max }: Timed): string[] {
  return [name, ...[p50, p95, max].map((ms) => ms.toFixed(1))];
}
