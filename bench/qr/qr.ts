// `npm run bench qr`: the latency of redirects while the largest QR images are drawn, six concurrently and continuously.
import { openBackend } from "../../src/backend.ts";
import { parseConfig } from "../../src/config.ts";
import { startRedirectLoad } from "../../test/support/redirect/redirect-load.ts";
import { instanceOf, startService } from "../../test/support/service/service-process.ts";
import { type LoadResult, startLoad } from "../load/load.ts";
import { median } from "../measure/statistics.ts";
import type { Options } from "../options.ts";
import { type Report, whole } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import { withDataFolder } from "../setup/data-folder.ts";
import { seedLinks } from "../setup/seed-links.ts";
import { benchSlug, LINKS, type Traffic } from "../traffic/requests.ts";

/** `images`: the load of images during the second. */
type Round = { without: LoadResult; during: LoadResult; images: LoadResult };

const QR_CONNECTIONS = 64;
/** Runs with six concurrent images. */
const BURSTS = 5;
const REDIRECTS_PER_SECOND = 500;
/** Limit of the slowest redirect during six concurrent images. */
const MAX_REDIRECT_MS = 150;
/** Limit of the redirects' p99 with continuous images over the one without. */
const MAX_P99_RATIO = 2;

/** Passes when every request was answered, and the slowest redirect and the p99 ratio are within their limits. */
export async function benchQr(options: Options, report: Report): Promise<Outcome> {
  return await withDataFolder((dataDir) => run(options, dataDir, report));
}

async function run({ rounds = 3, seconds = 8 }: Options, dataDir: string, report: Report): Promise<Outcome> {
  const instance = await instanceOf(dataDir);
  const config = parseConfig(instance);
  const backend = await openBackend(config, { offThread: false });
  await seedLinks(backend, config.baseUrl);
  await backend.close();
  const service = await startService(instance);
  const load = startLoad();
  const images = startLoad();
  try {
    const bursts: Burst[] = [];
    while (bursts.length < BURSTS) bursts.push(await sixAtOnce(service.url, bursts.length));
    const worst = median(bursts.map(({ worstMs }) => worstMs));
    for (const { worstMs, stallMs } of bursts)
      report.line(
        `six concurrent images of 2,048 px, a redirect every 3 ms: worst redirect ${worstMs.toFixed(1)} ms, client late by up to ${stallMs} ms`,
      );
    report.line(`median of the worst ${worst.toFixed(1)} ms (at most ${MAX_REDIRECT_MS})`);
    const { url } = service;
    const traffic: Traffic = { kind: "visits", links: LINKS, draw: "zipf" };
    const redirects = () => load.run({ url, traffic, seconds, rate: REDIRECTS_PER_SECOND });
    const asking: Traffic = { kind: "images", links: LINKS };
    const withImages = async () => {
      const order = { url, traffic: asking, seconds: seconds + 1, expect: 200, connections: QR_CONNECTIONS };
      const drawn = images.run(order);
      const during = await redirects();
      return { during, images: await drawn };
    };
    await redirects();
    await withImages();
    const done: Round[] = [];
    while (done.length < rounds) {
      done.push({ without: await redirects(), ...(await withImages()) });
      report.line(roundLine(done.length, done.at(-1) as Round));
    }
    const { passed, ratio } = judge(done, report);
    return { passed: passed && worst < MAX_REDIRECT_MS, measured: { worst, ratio, rounds: done } };
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

function roundLine(number: number, { without, during, images }: Round): string {
  return `round ${number}   redirect p99 ${without.p99.toFixed(1)} ms without, ${during.p99.toFixed(1)} ms with   ${whole(images.rate)} images/s`;
}

function judge(rounds: readonly Round[], report: Report): { passed: boolean; ratio: number } {
  const p99 = (side: "without" | "during") => median(rounds.map((round) => round[side].p99));
  // The median of each round's ratio, as other load of the machine changes between rounds.
  const ratio = median(rounds.map(({ during, without }) => during.p99 / without.p99));
  const failures = rounds.flatMap(({ without, during, images }) => [
    ...[without.other, without.errors, during.other, during.errors],
    ...[images.other, images.errors],
  ]);
  const failed = failures.reduce((sum, count) => sum + count, 0);
  report.line(
    [
      `${QR_CONNECTIONS} connections asking for different images of 2,048 px, ${REDIRECTS_PER_SECOND} redirects/s:`,
      `redirect p99 ${p99("without").toFixed(1)} ms without, ${p99("during").toFixed(1)} ms with, median ratio ${ratio.toFixed(2)} (at most ${MAX_P99_RATIO}),`,
      `${failed} requests failed`,
    ].join(" "),
  );
  return { passed: failed === 0 && ratio <= MAX_P99_RATIO, ratio };
}
