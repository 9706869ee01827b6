// Seeds an account with very many links and clicks for `npm run bench portal`; kept in a folder for the next run.
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { cp, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pino } from "pino";
import { type Backend, openBackend } from "../../src/backend.ts";
import { openAccount } from "../../src/commands/account/sign-up.ts";
import { runtimeDeps } from "../../src/commands/runtime-deps.ts";
import { parseConfig } from "../../src/config.ts";
import type { NewEvent } from "../../src/event-store/port.ts";
import { catalogue, type EventOf, type LinkledgerEvent } from "../../src/events/catalogue.ts";
import { newEvent } from "../../src/events/new-event.ts";
import { linkStream } from "../../src/events/streams.ts";
import { CLICK_KINDS } from "../../src/events/vocabulary.ts";
import { projectionGroups } from "../../src/projections/groups.ts";
import type { Projection } from "../../src/projections/projection.ts";
import { ProjectionRunner } from "../../src/projections/runner/runner.ts";
import { appendNext } from "../../test/support/event-store/append-next.ts";
import { linkClicked } from "../../test/support/event-store/stored-events.ts";
import type { Report } from "../report/report.ts";
import { withDataFolder } from "../setup/data-folder.ts";
import { benchSlug, benchUrl } from "../traffic/requests.ts";

export type Size = { links: number; clicks: number };
export type Seeded = { accountId: string; dataDir: string };

/** `day`: of the last click. */
type Kept = Seeded & { day: string };

const HOST = "localhost";
const LINKS_PER_BATCH = 500;
const CLICKS_PER_BATCH = 5_000;
const DAY_MS = 86_400_000;
const DAYS = 365;
const PLACES = [
  "FR Paris",
  "DE Berlin",
  "US New York",
  "GB London",
  "JP Tokyo",
  "BR Recife",
  "IN Pune",
  "ES Vigo",
];
const REFERRERS = ["direct", "t.co", "news.ycombinator.com", "linkedin.com", "google.com"];
const BROWSERS = ["Chrome", "Mobile Safari", "Firefox", "Edge"];
const SYSTEMS = ["Android", "iOS", "Windows", "macOS", "Linux"];

const context = { requestId: "bench", actor: { type: "operator" as const } };
const origin = { correlationId: "bench", causationId: "bench", actor: context.actor };

/** `work` gets a copy, so that the next run begins with the same account. `folder`: of the kept data. */
export async function withSeededPortal<T>(
  folder: string,
  size: Size,
  report: Report,
  work: (seeded: Seeded) => Promise<T>,
): Promise<T> {
  const { accountId, dataDir: kept } = await seedPortal(folder, size, report);
  return await withDataFolder(async (dataDir) => {
    await cp(kept, dataDir, { recursive: true });
    return await work({ accountId, dataDir });
  });
}

/** Reuses the folder of an earlier run when it is complete, of this size and of today: pages show the last hours. */
async function seedPortal(folder: string, size: Size, report: Report): Promise<Seeded> {
  const dataDir = join(folder, `portal-${size.links}-${size.clicks}`);
  const marker = join(dataDir, "seeded.json");
  const day = new Date().toISOString().slice(0, 10);
  if (existsSync(marker)) {
    const kept = JSON.parse(await readFile(marker, "utf8")) as Kept;
    if (kept.day === day) return kept;
  }
  await rm(dataDir, { recursive: true, force: true });
  await mkdir(dataDir, { recursive: true });
  const config = parseConfig({ DATA_DIR: dataDir });
  const backend = await openBackend(config, { offThread: true });
  const timed = async (name: string, work: () => Promise<void>) => {
    const started = performance.now();
    await work();
    report.line(`${name}: ${((performance.now() - started) / 1000).toFixed(1)} s`);
  };
  try {
    const deps = { ...runtimeDeps, ...backend };
    const { accountId } = await openAccount(deps, context, { email: "bench@example.com", tier: "developer" });
    await timed(`append ${size.links} links`, () => appendLinks(backend, accountId, size.links));
    await timed(`append ${size.clicks} clicks`, () => appendClicks(backend, accountId, size));
    for (const { name, projections } of projectionGroups)
      await timed(`project ${name}`, () => project(backend, projections));
    const kept: Kept = { accountId, dataDir, day };
    await writeFile(marker, JSON.stringify(kept));
    return kept;
  } finally {
    await backend.close();
  }
}

/** One for each minute up to now; one in a thousand is disabled. */
async function appendLinks({ eventStore }: Backend, accountId: string, links: number): Promise<void> {
  const now = Date.now();
  const append = async (n: number) => {
    const slug = benchSlug(n);
    const of = { host: HOST, slug, accountId, at: new Date(now - (links - n) * 60_000).toISOString() };
    const longUrl = benchUrl(n);
    const made = { ...of, longUrl, shortUrl: `http://${HOST}/${slug}`, via: "api" as const, custom: false };
    const events: LinkledgerEvent[] = [{ type: "LinkCreated", data: made }];
    if (n % 1_000 === 500) events.push({ type: "LinkDisabled", data: of });
    const stamped = events.map((event) => newEvent(event, randomUUID(), origin));
    await eventStore.append(linkStream(HOST, slug), "none", stamped);
  };
  for (let first = 0; first < links; first += LINKS_PER_BATCH) {
    const batch = Array.from({ length: Math.min(LINKS_PER_BATCH, links - first) }, (_, i) => first + i);
    await Promise.all(batch.map(append));
  }
}

/** Spread over the last year, in order; a tenth on the first link, the others unevenly over all links. */
async function appendClicks({ eventStore }: Backend, accountId: string, size: Size): Promise<void> {
  const start = Date.now() - DAYS * DAY_MS;
  for (let first = 0; first < size.clicks; first += CLICKS_PER_BATCH) {
    const events = Array.from({ length: Math.min(CLICKS_PER_BATCH, size.clicks - first) }, (_, i) => {
      const at = new Date(start + ((first + i) / size.clicks) * DAYS * DAY_MS);
      return unchecked(clickAt(at, first + i, accountId, size.links));
    });
    await appendNext(eventStore, `clicks-bench-${Math.floor(first / 50_000)}`, events);
  }
}

/** Without validation, which for a million events takes longer than appending them. */
function unchecked({ type, data }: LinkledgerEvent): NewEvent {
  return { id: randomUUID(), type, data, metadata: { schemaVersion: catalogue[type].version, ...origin } };
}

function clickAt(at: Date, n: number, accountId: string, links: number): EventOf<"LinkClicked"> {
  const of = <T>(list: readonly T[], step: number) => list[Math.floor(n / step) % list.length] as T;
  const spread = ((n * 2_654_435_761) % 2 ** 32) / 2 ** 32;
  const slug = benchSlug(n % 10 === 0 ? 0 : Math.floor(spread ** 3 * links));
  const [country = "", city = ""] = of(PLACES, 3).split(/ (.*)/);
  const referrerHost = of(REFERRERS, 7);
  return linkClicked({
    ...{ link: `${HOST}/${slug}`, accountId, at: at.toISOString(), kind: of([...CLICK_KINDS, "click"], 1) },
    ...{ country, city: `${city} ${n % 40}`, referrerHost, device: of(["mobile", "desktop", "tablet"], 2) },
    referrer: referrerHost === "direct" ? "" : `https://${referrerHost}/post/${n % 500}`,
    browser: { name: of(BROWSERS, 2), version: "140.0" },
    os: { name: of(SYSTEMS, 3), version: "" },
    utm: { source: "newsletter", campaign: `spring-${n % 30}` },
  });
}

async function project(backend: Backend, projections: readonly Projection[]): Promise<void> {
  const log = pino({ level: "warn" });
  const deps = {
    eventStore: backend.eventStore,
    readStore: backend.foldStore,
    log,
  };
  await new ProjectionRunner({ ...deps, projections }).catchUp();
}
