// All benchmarks by name.
import { benchAbuse } from "./abuse/abuse.ts";
import { benchAnalytics } from "./analytics/analytics.ts";
import { benchColdLookups } from "./cold-lookups.ts";
import { benchCreate } from "./create/create.ts";
import { benchFold } from "./fold/fold.ts";
import { benchLogSize } from "./log/log-size.ts";
import { benchPortal } from "./portal/portal.ts";
import { summarizeProfiles } from "./profile-summary.ts";
import { benchQr } from "./qr/qr.ts";
import { benchRebuild } from "./rebuild/rebuild.ts";
import { benchRedirect } from "./redirect/redirect.ts";
import type { Benchmark } from "./report/results.ts";
import { benchStart } from "./start.ts";
import { benchAll } from "./targets/all.ts";
import { benchWebhooks } from "./webhooks/webhooks.ts";

const SINGLE: Readonly<Record<string, Benchmark>> = {
  redirect: benchRedirect,
  create: benchCreate,
  analytics: benchAnalytics,
  fold: benchFold,
  rebuild: benchRebuild,
  webhooks: benchWebhooks,
  abuse: benchAbuse,
  "log-size": benchLogSize,
  portal: benchPortal,
  qr: benchQr,
  start: benchStart,
  "cold-lookups": benchColdLookups,
  profile: summarizeProfiles,
};

export const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  ...SINGLE,
  all: (options, report) => benchAll(options, report, SINGLE),
};

export const USAGE = `usage: npm run bench <name> -- [options]

redirect      [--rounds 3] [--seconds 6] [--links 10000] [--draw zipf|even] [--durable] [--profile FOLDER]
              [--workers 2]
              [--half] p99 at half load  [--unknown] slugs that nobody made  [--minutes 10 --share 0.7] a long run
              [--double]; servers named by EVENTSTORE_URL, MONGODB_URL and REDIS_URL
create        [--rounds 2] [--seconds 5] [--links 1000000] what so many links cost
analytics     [--clicks 1000000] [--requests 1000]
fold          [--links 100000] [--draw even|zipf] [--seconds 60] [--rate 5000] [--only visibility|flood]
              [--profile FOLDER]
rebuild       [--events 560000] [--links 100000] [--draw even|zipf] [--quick] [--profile FOLDER]
all           the table of targets  [--only RUN,RUN]  [--quick] a minute, that everything is counted once
webhooks      [--burst 2000] [--rate 50] [--seconds 8]
abuse         [--seconds 30] [--rate 2000] [--only KIND,KIND]
log-size      [--clicks 40000]
portal        [--links 100000] [--clicks 1000000] [--requests 50]
qr            [--rounds 3] [--seconds 8]
start         [--rounds 3] [--against FOLDER]
cold-lookups  [--rounds 3]
profile       --profile FOLDER   where each thread spent its time, after a benchmark with --profile FOLDER

All of them: --json prints one JSON document, --save keeps it in bench/results/, --markdown prints tables for documents`;
