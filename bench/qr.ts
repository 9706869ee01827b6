// `npm run bench qr`: the latency of redirects while the largest QR images are drawn, six concurrently and continuously.
import { openBackend } from "../src/backend.ts";
import { parseConfig } from "../src/config.ts";
import { startRedirectLoad } from "../test/support/redirect/redirect-load.ts";
import { instanceOf, startService } from "../test/support/service/service-process.ts";
import { startChild } from "./child.ts";
import { withDataFolder } from "./data-folder.ts";
import { type LoadResult, startLoad } from "./load.ts";
import type { QrLoad, QrOrder } from "./qr-load-process.ts";
import { machineLine, whole } from "./report.ts";
import { seedLinks } from "./seed-links.ts";
import { median } from "./statistics.ts";
import { benchSlug, LINKS } from "./traffic/requests.ts";

export type QrOptions = { rounds: number; seconds: number };

type Round = { without: LoadResult; during: LoadResult; qr: QrLoad };

const QR_CONNECTIONS = 64;
/** Runs with six concurrent images. */
const BURSTS = 5;
const REDIRECTS_PER_SECOND = 500;
/** Limit of the slowest redirect during six concurrent images. */
const MAX_REDIRECT_MS = 150;
/** Limit of the redirects' p99 with continuous images over the one without. */
const MAX_P99_RATIO = 2;

/** True when every request was answered, and the slowest redirect and the p99 ratio are within their limits. */
export async function benchQr(options: QrOptions): Promise<boolean> {
  return await withDataFolder((dataDir) => run(options, dataDir));
}

async function run({ rounds, seconds }: QrOptions, dataDir: string): Promise<boolean> {
  const instance = await instanceOf(dataDir);
  const config = parseConfig(instance);
  const backend = await openBackend(config, { offThread: false });
  await seedLinks(backend, config.baseUrl);
  await backend.close();
  const service = await startService(instance);
  const load = startLoad();
  const images = startChild("./qr-load-process.ts");
  try {
    console.log(machineLine());
    const bursts: Burst[] = [];
    while (bursts.length < BURSTS) bursts.push(await sixAtOnce(service.url, bursts.length));
    const worst = median(bursts.map(({ worstMs }) => worstMs));
    for (const { worstMs, stallMs } of bursts)
      console.log(
        `six concurrent images of 2,048 px, a redirect every 3 ms: worst redirect ${worstMs.toFixed(1)} ms, client late by up to ${stallMs} ms`,
      );
    console.log(`median of the worst ${worst.toFixed(1)} ms (at most ${MAX_REDIRECT_MS})`);
    const amount = REDIRECTS_PER_SECOND * seconds;
    const redirects = () => load.run({ url: service.url, amount, rate: REDIRECTS_PER_SECOND });
    const order: QrOrder = { url: service.url, connections: QR_CONNECTIONS, links: LINKS };
    const withImages = async () => {
      images.send(order);
      const during = await redirects();
      return { during, qr: await images.request<QrLoad>({ stop: true } satisfies QrOrder) };
    };
    await redirects();
    await withImages();
    const done: Round[] = [];
    while (done.length < rounds) {
      done.push({ without: await redirects(), ...(await withImages()) });
      console.log(roundLine(done.length, done.at(-1) as Round));
    }
    return report(done) && worst < MAX_REDIRECT_MS;
  } finally {
    await Promise.all([load.stop(), images.stop(), service.stop()]);
  }
}

/** `worstMs`: the slowest redirect; `stallMs`: the longest delay of a timer in the client, as a measure of other load. */
type Burst = { worstMs: number; stallMs: number };

/** Every image has another colour, so that none is cached. */
async function sixAtOnce(url: string, round: number): Promise<Burst> {
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
  // The median of each round's ratio, as other load of the machine changes between rounds.
  const ratio = median(rounds.map(({ during, without }) => during.p99 / without.p99));
  const failures = rounds.flatMap(({ without, during, qr }) => [
    ...[without.other, without.errors, during.other, during.errors],
    ...[qr.other, qr.errors],
  ]);
  const failed = failures.reduce((sum, count) => sum + count, 0);
  console.log(
    [
      `${QR_CONNECTIONS} connections asking for different images of 2,048 px, ${REDIRECTS_PER_SECOND} redirects/s:`,
      `redirect p99 ${p99("without").toFixed(1)} ms without, ${p99("during").toFixed(1)} ms with, median ratio ${ratio.toFixed(2)} (at most ${MAX_P99_RATIO}),`,
      `${failed} requests failed`,
    ].join(" "),
  );
  return failed === 0 && ratio <= MAX_P99_RATIO;
}
