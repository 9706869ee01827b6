// `npm run bench qr`: what redirects feel of the largest QR images, six at once and a flood of them.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openBackend } from "../src/backend.ts";
import { parseConfig } from "../src/config.ts";
import { startRedirectLoad } from "../test/support/redirect/redirect-load.ts";
import { instanceOf, startService } from "../test/support/service/service-process.ts";
import { startChild } from "./child.ts";
import type { LoadOrder, LoadResult } from "./load-process.ts";
import type { QrLoad, QrOrder } from "./qr-load-process.ts";
import { machineLine, median, whole } from "./report.ts";
import { seedLinks } from "./seed-links.ts";
import { benchSlug, LINKS } from "./traffic/requests.ts";

export type QrOptions = { rounds: number; seconds: number };

type Round = { without: LoadResult; during: LoadResult; qr: QrLoad };

const CONNECTIONS = 50;
const QR_CONNECTIONS = 64;
/** Of six images at once. */
const TRIES = 5;
const REDIRECTS_PER_SECOND = 500;
/** Of the six at once. */
const WORST_REDIRECT_MS = 150;
const MOST_P99_RATIO = 2;

/** True when every redirect was answered, the worst in time, and the flood at most doubled their p99. */
export async function benchQr(options: QrOptions): Promise<boolean> {
  const dataDir = await mkdtemp(join(tmpdir(), "linkledger-bench-"));
  try {
    return await run(options, dataDir);
  } finally {
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function run({ rounds, seconds }: QrOptions, dataDir: string): Promise<boolean> {
  const instance = await instanceOf(dataDir);
  const config = parseConfig(instance);
  const backend = await openBackend(config, { offThread: false });
  await seedLinks(backend, config.baseUrl);
  await backend.close();
  const service = await startService(instance);
  const redirects = startChild("./load-process.ts");
  const images = startChild("./qr-load-process.ts");
  try {
    console.log(machineLine());
    const tries: Six[] = [];
    while (tries.length < TRIES) tries.push(await sixAtOnce(service.url, tries.length));
    const worst = median(tries.map(({ worstMs }) => worstMs));
    for (const { worstMs, stallMs } of tries)
      console.log(
        `six images of 2,048 px at once, a redirect every 3 ms: worst redirect ${worstMs.toFixed(1)} ms, client late by up to ${stallMs} ms`,
      );
    console.log(`median of the worst ${worst.toFixed(1)} ms (at most ${WORST_REDIRECT_MS})`);
    const ask = () =>
      redirects.ask<LoadResult>({
        url: service.url,
        amount: REDIRECTS_PER_SECOND * seconds,
        connections: CONNECTIONS,
        rate: REDIRECTS_PER_SECOND,
      } satisfies LoadOrder);
    const order: QrOrder = { url: service.url, connections: QR_CONNECTIONS, links: LINKS };
    const flooded = async () => {
      images.tell(order);
      const during = await ask();
      return { during, qr: await images.ask<QrLoad>({ stop: true } satisfies QrOrder) };
    };
    await ask();
    await flooded();
    const done: Round[] = [];
    while (done.length < rounds) {
      done.push({ without: await ask(), ...(await flooded()) });
      console.log(roundLine(done.length, done.at(-1) as Round));
    }
    return report(done) && worst < WORST_REDIRECT_MS;
  } finally {
    await Promise.all([redirects.stop(), images.stop(), service.stop()]);
  }
}

/** `worstMs`: the slowest redirect; `stallMs`: how late the machine was for the client itself, at the worst. */
type Six = { worstMs: number; stallMs: number };

/** Images of a colour of their own, which no cache has. */
async function sixAtOnce(url: string, round: number): Promise<Six> {
  const load = startRedirectLoad(`six-${round}`, url, [benchSlug(0)], 333);
  await load.answeredMore(300);
  const image = (n: number) =>
    `${url}/api/qr/${benchSlug(0)}?size=2048&margin=0&ecc=H&dark=${n}${n}${n}${round}${round}${round}`;
  const draw = async (n: number) => (await fetch(image(n))).arrayBuffer();
  await Promise.all(Array.from({ length: 6 }, (_, n) => draw(n)));
  await load.answeredMore(100);
  await load.stop();
  if (load.failed.size > 0) return { worstMs: Number.POSITIVE_INFINITY, stallMs: load.longestStallMs() };
  const worstMs = Math.max(...[...load.answered.values()].map(({ ms }) => ms));
  return { worstMs, stallMs: load.longestStallMs() };
}

function roundLine(number: number, { without, during, qr }: Round): string {
  return `round ${number}   redirect p99 ${without.p99.toFixed(1)} ms without, ${during.p99.toFixed(1)} ms with   ${whole(qr.rate)} images/s`;
}

function report(rounds: readonly Round[]): boolean {
  const p99 = (side: "without" | "during") => median(rounds.map((round) => round[side].p99));
  // Of each round by itself, as what else the machine does changes from round to round.
  const ratio = median(rounds.map(({ during, without }) => during.p99 / without.p99));
  const failures = rounds.flatMap(({ without, during, qr }) => [
    ...[without.other, without.errors, during.other, during.errors],
    ...[qr.other, qr.errors],
  ]);
  const failed = failures.reduce((sum, count) => sum + count, 0);
  console.log(
    [
      `${QR_CONNECTIONS} connections asking for different images of 2,048 px, ${REDIRECTS_PER_SECOND} redirects/s:`,
      `redirect p99 ${p99("without").toFixed(1)} ms without, ${p99("during").toFixed(1)} ms with, median ratio ${ratio.toFixed(2)} (at most ${MOST_P99_RATIO}),`,
      `${failed} requests failed`,
    ].join(" "),
  );
  return failed === 0 && ratio <= MOST_P99_RATIO;
}
