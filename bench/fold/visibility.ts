// How long a click takes from its 301 until GET /api/v1/analytics/{slug} counts it, while other clicks go on.
import { setTimeout as delay } from "node:timers/promises";
import type { Backend } from "../../src/backend.ts";
import type { Config } from "../../src/config.ts";
import { quantile } from "../measure/statistics.ts";
import { issueKeys } from "../setup/issue-keys.ts";
import { openBenchAccount, seedLinksOf } from "../setup/seed-links.ts";

/** A link of its own account, which only the probe visits. */
export type Probe = { slug: string; keys: readonly string[] };

/** Milliseconds. `clicks`: those of all probes. */
export type Visibility = { clicks: number; p50: number; p99: number; max: number };

const PROBES = 4;
const POLL_EVERY_MS = 20;
/** Of the time waited so far: keeps the polls of a slow service within the hourly limit of a probe's keys. */
const POLL_SHARE = 0.05;
/** Longest pause between two clicks of a probe; random, so that they meet the projector at any phase. */
const PAUSE_MS = 300;

export async function seedProbes(backend: Backend, config: Config): Promise<Probe[]> {
  return await Promise.all(
    Array.from({ length: PROBES }, async (_, n) => {
      const [accountId, slug] = [crypto.randomUUID(), `probe${n}`];
      await openBenchAccount(backend, accountId);
      await seedLinksOf(backend, config.baseUrl, { accountId, links: 1, slugOf: () => slug });
      return { slug, keys: await issueKeys(backend, config, accountId) };
    }),
  );
}

/** Clicks for some seconds, and then until the last click is visible. */
export async function measureVisibility(
  url: string,
  probes: readonly Probe[],
  seconds: number,
): Promise<Visibility> {
  const until = performance.now() + seconds * 1000;
  const latencies: number[] = [];
  const probing = async ({ slug, keys }: Probe) => {
    const totalClicks = analyticsReader(url, slug, keys);
    for (let clicks = 1; performance.now() < until; clicks++) {
      const response = await fetch(`${url}/${slug}`, { redirect: "manual" });
      if (response.status !== 301) throw new Error(`${slug} was answered with ${response.status}`);
      const answeredAt = performance.now();
      const waited = () => performance.now() - answeredAt;
      while ((await totalClicks()) < clicks) await delay(Math.max(POLL_EVERY_MS, waited() * POLL_SHARE));
      latencies.push(waited());
      await delay(Math.random() * PAUSE_MS);
    }
  };
  await Promise.all(probes.map(probing));
  latencies.sort((a, b) => a - b);
  const [p50, p99, max] = [0.5, 0.99, 1].map((q) => quantile(latencies, q)) as [number, number, number];
  return { clicks: latencies.length, p50, p99, max };
}

/** Asks with the keys in turn. */
function analyticsReader(url: string, slug: string, keys: readonly string[]): () => Promise<number> {
  let asked = 0;
  return async () => {
    const key = keys[asked++ % keys.length] ?? "";
    const response = await fetch(`${url}/api/v1/analytics/${slug}`, { headers: { "x-api-key": key } });
    if (response.status !== 200) throw new Error(`analytics of ${slug}: ${await response.text()}`);
    const { analytics } = (await response.json()) as { analytics: { totalClicks: number } };
    return analytics.totalClicks;
  };
}
