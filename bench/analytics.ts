// `npm run bench analytics`: numbers of an account with many links and clicks, and redirects beside them.
import { issueKey } from "../src/commands/account/keys.ts";
import { runtimeDeps } from "../src/commands/runtime-deps.ts";
import { foldGroups } from "../test/support/projections/fold-groups.ts";
import type { Options } from "./main.ts";
import { secondsToCatchUp } from "./measure/counted.ts";
import { printTable, quantile, whole } from "./report.ts";
import { type Prepared, type Running, withService } from "./setup/bench-service.ts";
import { BENCH } from "./setup/seed.ts";
import { seedClicks } from "./setup/seed-clicks.ts";

const DAYS = 30;
const DAY_MS = 86_400_000;
/** What documents answer, and the log. */
const QUESTIONS = {
  totals: "compare=previous",
  links: "group_by=link",
  countries: "group_by=country",
  cities: "group_by=city",
  referrers: "group_by=referrer",
  hours: "group_by=hour&timezone=Europe/Berlin",
  "a country's browsers, from the log": "group_by=browser&country=DE",
} as const;
const REDIRECTS_A_SECOND = 200;

/** Passes when what documents answer takes at most 200 ms, and redirects beside it at most 20 ms longer. */
export async function benchAnalytics({ quick, ...options }: Options): Promise<boolean> {
  const { events: clicks = quick ? 20_000 : 1_000_000, links = quick ? 500 : 100_000 } = options;
  const { seconds = quick ? 2 : 20 } = options;
  const environment = { RATE_LIMIT_DEVELOPER: "1000000" };
  const keys: string[] = [];
  const seed = async (prepared: Prepared) => {
    await seedClicks(prepared, { clicks, links, spanMs: (DAYS - 1) * DAY_MS });
    // Here, as a service isn't ready until it has folded them.
    await foldGroups({ eventStore: prepared.backend.eventStore, readStore: prepared.backend.foldStore });
    const deps = { ...runtimeDeps, ...prepared.backend, keyPrefix: prepared.config.keyPrefix };
    keys.push((await issueKey(deps, BENCH, prepared.accountId)).key);
  };
  return await withService({ links, environment, seed }, async (running) => {
    await secondsToCatchUp(running.backend);
    const ask = asking(running, keys[0] ?? "");
    const rows = [["", "asked", "answered from", "p50 ms", "p99 ms"]];
    const slowest: number[] = [];
    for (const [name, query] of Object.entries(QUESTIONS)) {
      const times: number[] = [];
      const ended = performance.now() + (seconds * 1_000) / 4;
      let source = "";
      while (times.length < 3 || performance.now() < ended) {
        const started = performance.now();
        source = await ask(query);
        times.push(performance.now() - started);
      }
      // The first one compiles the code, and reads what is kept of the log.
      const measured = times.slice(1);
      if (source === "documents") slowest.push(quantile(measured, 0.99));
      rows.push([
        name,
        whole(times.length),
        source,
        ...[0.5, 0.99].map((q) => quantile(measured, q).toFixed(0)),
      ]);
    }
    printTable(rows);
    const [alone, beside] = [await redirects(running, seconds), await besideQuestions(running, seconds, ask)];
    console.log(`redirects: p99 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside questions`);
    return quick || (Math.max(...slowest) < 200 && beside < alone + 20);
  });
}

/** Resolves with what the answer was made of. */
function asking({ service }: Running, key: string): (query: string) => Promise<string> {
  const from = new Date(Date.now() - DAYS * DAY_MS).toISOString().slice(0, 10);
  return async (query) => {
    const answer = await fetch(`${service.url}/api/v1/analytics?from=${from}&${query}`, {
      headers: { "x-api-key": key },
    });
    const body = (await answer.json()) as { source?: string; error?: string };
    if (body.source === undefined) throw new Error(`${query}: ${body.error}`);
    return body.source;
  };
}

/** p99 of redirects at a steady rate, in milliseconds. */
async function redirects({ load, service }: Running, seconds: number): Promise<number> {
  const traffic = { kind: "visits", links: 500 } as const;
  return (await load.run({ url: service.url, traffic, seconds, rate: REDIRECTS_A_SECOND })).p99;
}

async function besideQuestions(running: Running, seconds: number, ask: (query: string) => Promise<string>) {
  let isDone = false;
  const asking = (async () => {
    for (let n = 0; !isDone; n++) await ask(Object.values(QUESTIONS)[n % 6] ?? "");
  })();
  const p99 = await redirects(running, seconds);
  isDone = true;
  await asking;
  return p99;
}
