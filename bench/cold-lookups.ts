// `npm run bench cold-lookups`: the cost of looking up a link that is not cached in memory, in MongoDB and in Redis.
import { openBackend } from "../src/backend.ts";
import { LinkLookup } from "../src/redirect/lookup/lookup.ts";
import { temporaryFolder } from "../test/support/runtime/temporary-folder.ts";
import { startMongodb } from "../test/support/servers/mongodb-server.ts";
import { startRedis } from "../test/support/servers/redis-server.ts";
import { median } from "./measure/statistics.ts";
import type { Options } from "./options.ts";
import type { Report } from "./report/report.ts";
import type { Outcome } from "./report/results.ts";

const LINKS = 500;
const IN_FLIGHT = 50;
const HOST = "sho.rt";
const ACCOUNT = "7a6f3c1e-52b1-4f0e-9a54-2f6c1d7b8e90";
const AT = "2026-05-01T12:00:00.000Z";

type Lookup = (slug: string) => Promise<unknown>;

/** Alternates between both stores, with one lookup and with 50 in flight. Prints the medians. */
export async function benchColdLookups({ rounds = 3 }: Options, report: Report): Promise<Outcome> {
  const folder = await temporaryFolder();
  const [mongodb, redis] = await Promise.all([startMongodb(), startRedis()]);
  const config = { dataDir: folder.path, mongodbUrl: mongodb.newDatabase() };
  const backend = await openBackend(config, { offThread: false });
  try {
    await backend.prepare();
    const links = Array.from({ length: LINKS }, (_, n) => document(`slug${n}`));
    for (let start = 0; start < LINKS; start += 20)
      await backend.foldStore.replace("links", links.slice(start, start + 20));
    const account = { _id: ACCOUNT, _position: "1", tier: "free", status: "open", openedAt: AT };
    await backend.foldStore.replace("accounts", [account]);
    const connection = await redis.connect();
    await connection.run(async (client) => {
      for (const link of links) await client.hset(redisKey(link.slug), "r", 0, "v", JSON.stringify(link));
    });
    const stores: Record<string, () => Lookup> = {
      // A new LinkLookup for each pass, so that its cache is empty.
      MongoDB: () => {
        const lookup = new LinkLookup({
          ...backend,
          baseHost: HOST,
          isFollowing: () => true,
          random: Math.random,
        });
        return (slug) => lookup.find(HOST, slug);
      },
      Redis: () => async (slug) => {
        const text = await connection.run((client) => client.hget(redisKey(slug), "v"));
        return JSON.parse(text ?? "");
      },
    };
    report.line(`${LINKS} links, ${rounds} rounds, medians`);
    const results = new Map<string, { latency: number[]; rate: number[] }>();
    for (let round = 0; round < rounds; round++)
      for (const [name, lookup] of Object.entries(stores)) {
        const { latency, rate } = results.get(name) ?? { latency: [], rate: [] };
        latency.push((await secondsFor(lookup(), 1)) / LINKS);
        rate.push(LINKS / (await secondsFor(lookup(), IN_FLIGHT)));
        results.set(name, { latency, rate });
      }
    for (const [name, { latency, rate }] of results)
      report.line(
        `${name.padEnd(8)} ${(median(latency) * 1_000).toFixed(2)} ms a lookup, ${Math.round(median(rate))} lookups/s at ${IN_FLIGHT} in flight`,
      );
    return { passed: true, measured: Object.fromEntries(results) };
  } finally {
    await backend.close();
    await Promise.all([mongodb.stop(), redis.stop()]);
    await folder.remove();
  }
}

async function secondsFor(lookup: Lookup, inFlight: number): Promise<number> {
  const before = performance.now();
  let next = 0;
  const visitor = async () => {
    while (next < LINKS) if (!(await lookup(`slug${next++}`))) throw new Error("a link was not found");
  };
  await Promise.all(Array.from({ length: inFlight }, visitor));
  return (performance.now() - before) / 1_000;
}

function document(slug: string) {
  return {
    ...{ _id: `${HOST}/${slug}`, _position: "1", host: HOST, slug, shortUrl: `https://${HOST}/${slug}` },
    ...{ accountId: ACCOUNT, keyId: null, domainId: null },
    ...{
      longUrl: `https://example.com/campaign/${slug}?utm_source=newsletter`,
      createdAt: AT,
      changedAt: AT,
    },
    ...{ status: "live", deleted: false, via: "api", custom: false, revision: 0 },
  };
}

function redisKey(slug: string): string {
  return `bench-link:${HOST}/${slug}`;
}
