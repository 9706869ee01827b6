// `npm run demo`: starts a temporary instance, sends a few hundred visits, and prints their analytics.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { accountWithKeys, instanceOf, startService } from "../../test/support/service/service-process.ts";
import { printTable } from "../report.ts";
import { bars, type Counts, heading, hours } from "./print.ts";
import { type Visit, visits } from "./visits.ts";

const VISITS = 300;
const CONCURRENCY = 10;
const TIMEOUT_MS = 10_000;
const LONG_URLS = [
  "https://example.com/spring-collection",
  "https://example.com/blog/every-click-is-an-event",
  "https://example.com/jobs?utm_source=website",
];

type Link = { slug: string; short_url: string; long_url: string };
type Analytics = {
  totalClicks: number;
  actualClicks: number;
  previews: number;
  qrScans: number;
  devices: Counts;
  countries: Counts;
  referrers: Counts;
  browsers?: Counts;
  hourlyClicks: Counts;
  utm: Record<string, Counts>;
  recentClicks: Record<string, string | null>[];
};

const dataDir = await mkdtemp(join(tmpdir(), "linkledger-demo-"));
try {
  await demo();
} finally {
  await rm(dataDir, { recursive: true, force: true });
}

async function demo(): Promise<void> {
  const started = performance.now();
  const instance = await instanceOf(dataDir);
  const service = await startService(instance);
  try {
    console.log(`A temporary instance runs at ${instance.BASE_URL}`);
    const { keys } = await accountWithKeys(instance, "developer", 1);
    const request = { headers: { "x-api-key": keys[0] ?? "", "content-type": "application/json" } };
    const links: Link[] = [];
    for (const url of LONG_URLS) {
      const body = JSON.stringify({ url });
      const response = await fetch(`${service.url}/api/v1/shorten`, { ...request, method: "POST", body });
      if (response.status !== 201) throw new Error(`shorten: ${response.status} ${await response.text()}`);
      links.push((await response.json()) as Link);
    }
    await send(service.url, links, visits(VISITS, links.length));
    const found = await untilCounted(() =>
      Promise.all(
        links.map(async ({ slug }) => {
          const response = await fetch(`${service.url}/api/v1/analytics/${slug}`, request);
          return ((await response.json()) as { analytics: Analytics }).analytics;
        }),
      ),
    );
    print(links, found);
    console.log(
      `\n${VISITS} visits, all counted, in ${((performance.now() - started) / 1000).toFixed(1)} s.`,
    );
  } finally {
    await service.stop();
  }
}

async function send(url: string, links: readonly Link[], all: readonly Visit[]): Promise<void> {
  const waiting = [...all];
  const visitor = async () => {
    for (let visit = waiting.shift(); visit; visit = waiting.shift()) {
      const { link, method, query, headers } = visit;
      const address = `${url}/${links[link]?.slug}${query ? `?${query}` : ""}`;
      const response = await fetch(address, { method, headers, redirect: "manual" });
      if (response.status !== 301) throw new Error(`${method} ${address}: ${response.status}`);
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, visitor));
}

async function untilCounted(read: () => Promise<Analytics[]>): Promise<Analytics[]> {
  const deadline = performance.now() + TIMEOUT_MS;
  for (;;) {
    const found = await read();
    const counted = found.reduce((sum, { totalClicks }) => sum + totalClicks, 0);
    if (counted === VISITS) return found;
    if (performance.now() > deadline) throw new Error(`only ${counted} of ${VISITS} visits are counted`);
    await pause(200);
  }
}

function print(links: readonly Link[], found: readonly Analytics[]): void {
  const rows = links.map(({ short_url, long_url }, i) => {
    const { totalClicks, actualClicks, previews, qrScans } = found[i] ?? ({} as Partial<Analytics>);
    return [short_url, ...[totalClicks, actualClicks, previews, qrScans].map(String), long_url];
  });
  console.log(heading("Links"));
  printTable([["short link", "total", "clicks", "previews", "qr scans", "leads to"], ...rows]);
  const [busiest] = found;
  if (!busiest) return;
  console.log(heading(`All that follows is about ${links[0]?.short_url}`));
  console.log(bars("Devices", busiest.devices));
  console.log(bars("Countries", busiest.countries));
  console.log(bars("Referrers", busiest.referrers));
  if (busiest.browsers) console.log(bars("Browsers", busiest.browsers));
  for (const field of ["source", "medium", "campaign"]) {
    console.log(bars(`utm_${field}`, busiest.utm[field] ?? {}));
  }
  console.log(hours(busiest.hourlyClicks));
  const columns = ["at", "type", "device", "browser", "os", "country", "city", "ip"];
  const recent = busiest.recentClicks.map((click) => columns.map((column) => String(click[column] ?? "")));
  console.log(heading("Last clicks"));
  printTable([columns, ...recent]);
}
