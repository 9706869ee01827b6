// `npm run bench analytics`: what questions about clicks cost, of a large account and of a small one beside others, and redirects
// beside them.
import { issueKey } from "../src/commands/account/change-keys.ts";
import { runtimeDeps } from "../src/commands/runtime-deps.ts";
import { CLICK_KINDS } from "../src/events/vocabulary.ts";
import { groupsOf, MOST_ROWS } from "../src/portal/analytics/breakdowns.ts";
import { accountQuestions, clickQuestions } from "../src/queries/analytics/click-questions.ts";
import type { AccountQuestion } from "../src/queries/analytics/question.ts";
import { foldGroups } from "../test/support/projections/fold-groups.ts";
import { secondsToCatchUp } from "./measure/counted.ts";
import type { Options } from "./options.ts";
import { median, printTable, quantile, whole } from "./report.ts";
import { type Prepared, type Running, withService } from "./setup/bench-service.ts";
import { BENCH, seedLinks, seedLinksOf } from "./setup/seed.ts";
import { seedClicks } from "./setup/seed-clicks.ts";

const DAY_MS = 86_400_000;
const [DAYS, SMALL_DAYS] = [30, 40];
const SMALL = { clicks: 20_000, links: 50 };
const AGAIN = 5;
const ONE_LINK = "onelink";
const REDIRECTS_A_SECOND = 200;
/** In milliseconds, on a machine that does nothing else. */
const MOST = { filtered: 600, again: 50, whole: 100, small: 30, link: 10, redirectsBeside: 10 };

/** Wall time in milliseconds: of the first answer, of the median of later ones, and the CPU time of the first. */
type Cost = { first: number; again: number; cpu: number };

/** Passes when each answer takes at most what is promised, and redirects beside them at most 10 ms longer. */
export async function benchAnalytics({ quick, ...options }: Options): Promise<boolean> {
  const { events: clicks = quick ? 20_000 : 1_000_000, links = quick ? 500 : 1_000 } = options;
  const { seconds = quick ? 2 : 20 } = options;
  let key = "";
  let isCheap = false;
  const seed = async (prepared: Prepared) => {
    const accounts = await seedAccounts(prepared, { clicks, links, quick });
    // Here, as a service isn't ready until it has folded them.
    await foldGroups({ eventStore: prepared.backend.eventStore, readStore: prepared.backend.foldStore });
    const deps = { ...runtimeDeps, ...prepared.backend, keyPrefix: prepared.config.keyPrefix };
    key = (await issueKey(deps, BENCH, accounts.ofOneLink)).key;
    isCheap = await askedInThisThread(prepared, accounts);
  };
  const environment = { RATE_LIMIT_DEVELOPER: "1000000" };
  return await withService({ links, environment, seed }, async (running) => {
    await secondsToCatchUp(running.backend);
    const ask = () => askLink(running, key);
    const times: number[] = [];
    for (const ended = performance.now() + seconds * 1_000; times.length < 3 || performance.now() < ended; ) {
      const started = performance.now();
      await ask();
      times.push(performance.now() - started);
    }
    // The first ones compile the code, and start the thread.
    const p99 = quantile(times.slice(2), 0.99);
    console.log(`a link with ${whole(clicks)} clicks, its whole life: p99 ${p99.toFixed(1)} ms`);
    const [alone, beside] = [await redirects(running, seconds), await besideQuestions(running, seconds, ask)];
    console.log(`redirects: p99 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside questions`);
    return quick || (isCheap && p99 < MOST.link && beside < alone + MOST.redirectsBeside);
  });
}

type Accounts = { large: string; small: string; ofOneLink: string };

/** Four fifths of all clicks are of others. */
async function seedAccounts(
  prepared: Prepared,
  { clicks, links, quick }: { clicks: number; links: number; quick: boolean },
): Promise<Accounts> {
  const { backend, config } = prepared;
  const [small, ofOneLink, others] = await Promise.all(
    [0, 0, 0].map(() => seedLinks(backend, config.baseUrl, 0)),
  );
  const of = (accountId = "", host?: string) => {
    return { ...prepared, accountId, config: host ? { ...config, baseUrl: `http://${host}` } : config };
  };
  const slugOf = () => ONE_LINK;
  const spanMs = (DAYS - 0.1) * DAY_MS;
  await seedLinksOf(backend, config.baseUrl, { accountId: ofOneLink ?? "", links: 1, slugOf });
  const ofSmall = quick ? { ...SMALL, clicks: SMALL.clicks / 10 } : SMALL;
  await seedClicks(of(small, "small.example"), { ...ofSmall, spanMs: (SMALL_DAYS - 0.1) * DAY_MS });
  await seedClicks(prepared, { clicks, links, spanMs });
  await seedClicks(of(ofOneLink), { clicks, links: 1, spanMs, slugOf });
  await seedClicks(of(others, "others.example"), { clicks: 3 * clicks, links: 10 * links, spanMs });
  return { large: prepared.accountId, small: small ?? "", ofOneLink: ofOneLink ?? "" };
}

/** By the engine, without HTTP. Whether each answer took what it may. */
async function askedInThisThread({ backend }: Prepared, { large, small }: Accounts): Promise<boolean> {
  const stores = { eventStore: backend.eventStore, readStore: backend.foldStore };
  const now = Date.now();
  const today = now - (now % DAY_MS);
  const common = { now, zone: "UTC", kinds: CLICK_KINDS, limit: MOST_ROWS, compare: "previous" as const };
  const page = { ...common, groupBy: groupsOf(undefined), filters: {} };
  const filters = { country: ["DE"], device: ["mobile"] };
  const ofLarge = { ...page, accountId: large, from: today - (DAYS - 1) * DAY_MS };
  const ofSmall = { ...page, accountId: small, from: today - (SMALL_DAYS - 1) * DAY_MS };
  const cost = async (asked: AccountQuestion): Promise<Cost> => {
    // Each with nothing kept of those before.
    const ask = accountQuestions(clickQuestions(stores), stores.readStore);
    const [started, cpu] = [performance.now(), process.threadCpuUsage().user];
    await ask(asked);
    const first = performance.now() - started;
    const cpuMs = (process.threadCpuUsage().user - cpu) / 1_000;
    const later: number[] = [];
    while (later.length < AGAIN) {
      const begun = performance.now();
      await ask(asked);
      later.push(performance.now() - begun);
    }
    return { first, again: median(later), cpu: cpuMs };
  };
  // So that what is measured is compiled.
  for (const filter of [filters, {}, filters, {}]) await cost({ ...ofSmall, filters: filter });
  const filtered = await cost({ ...ofLarge, filters });
  const unfiltered = await cost(ofLarge);
  const byHour = { ...ofSmall, interval: "hour" as const, compare: undefined };
  const smalls = [await cost(ofSmall), await cost({ ...ofSmall, filters }), await cost(byHour)];
  const row = (name: string, { first, again, cpu }: Cost) => [
    name,
    ...[first, cpu, again].map((ms) => ms.toFixed(0)),
  ];
  printTable([
    ["a page of all groups", "first ms", "CPU ms of it", "again ms"],
    row("large account, a country's phones", filtered),
    row("large account, all clicks and the period before", unfiltered),
    row("small account, all clicks and the period before", smalls[0] as Cost),
    row("small account, a country's phones", smalls[1] as Cost),
    row("small account, by the hour", smalls[2] as Cost),
  ]);
  const isSmallCheap = median(smalls.flatMap(({ first, again }) => [first, again])) < MOST.small;
  return (
    filtered.first < MOST.filtered &&
    filtered.again < MOST.again &&
    unfiltered.first < MOST.whole &&
    isSmallCheap
  );
}

async function askLink({ service }: Running, key: string): Promise<void> {
  const url = `${service.url}/api/v1/analytics/${ONE_LINK}`;
  const answer = await fetch(url, { headers: { "x-api-key": key } });
  const { analytics, error } = (await answer.json()) as { analytics?: unknown; error?: string };
  if (!analytics) throw new Error(error);
}

/** p99 of redirects at a steady rate, in milliseconds. */
async function redirects({ load, service }: Running, seconds: number): Promise<number> {
  const traffic = { kind: "visits", links: 500 } as const;
  return (await load.run({ url: service.url, traffic, seconds, rate: REDIRECTS_A_SECOND })).p99;
}

async function besideQuestions(running: Running, seconds: number, ask: () => Promise<void>) {
  let isDone = false;
  const asking = (async () => {
    while (!isDone) await ask();
  })();
  const p99 = await redirects(running, seconds);
  isDone = true;
  await asking;
  return p99;
}
