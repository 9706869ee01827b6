// `npm run bench analytics`: GET /api/v1/analytics/{slug} of a link with a million clicks.
import { startLoad } from "../load/load.ts";
import { secondsToCatchUp } from "../measure/caught-up.ts";
import type { Options } from "../options.ts";
import { type Report, whole } from "../report/report.ts";
import type { Outcome } from "../report/results.ts";
import { type BenchService, withService } from "../setup/bench-service.ts";
import { issueKeys } from "../setup/issue-keys.ts";
import { seedClicks } from "../setup/seed-clicks.ts";
import { benchSlug } from "../traffic/requests.ts";

/** Of requests that open what is opened once, which are not counted. */
const WARM_UPS = 50;
const LONGEST_S = 300;

/** Passes when the answer counts every click. One connection, so that no request waits for another. */
export async function benchAnalytics(options: Options, report: Report): Promise<Outcome> {
  const { clicks = 1_000_000, requests = 1_000 } = options;
  const keys: string[] = [];
  const seed = async ({
    backend,
    config,
    accountId,
  }: Pick<BenchService, "backend" | "config" | "accountId">) => {
    keys.push(...(await issueKeys(backend, config, accountId)));
    await seedClicks(backend, { baseUrl: config.baseUrl, accountId, clicks, link: () => 0 });
  };
  return await withService(options, { links: 1, seed }, async ({ service, backend }) => {
    const foldedAfterS = await secondsToCatchUp(backend);
    report.line(
      `${whole(clicks)} clicks on one link, folded ${foldedAfterS.toFixed(1)} s after the service was ready`,
    );
    const path = `/api/v1/analytics/${benchSlug(0)}`;
    const headers = { "x-api-key": keys[0] ?? "" };
    const answer = (await (await fetch(service.url + path, { headers })).json()) as {
      analytics: { totalClicks: number };
    };
    const counted = answer.analytics.totalClicks;
    const load = startLoad();
    try {
      const asking = {
        url: service.url,
        traffic: { kind: "gets" as const, path, keys },
        expect: 200,
        connections: 1,
      };
      await load.run({ ...asking, seconds: LONGEST_S, amount: WARM_UPS });
      const run = await load.run({ ...asking, seconds: LONGEST_S, amount: requests });
      const passed = counted === clicks && run.answered === requests;
      report.line(
        `p50 ${run.p50.toFixed(2)} ms, p99 ${run.p99.toFixed(2)} ms of ${whole(requests)} requests`,
      );
      report.line(`${whole(counted)} clicks counted${passed ? "" : ": MISMATCH"}`);
      return { passed, measured: { p50: run.p50, p99: run.p99, counted, foldedAfterS } };
    } finally {
      await load.stop();
    }
  });
}
