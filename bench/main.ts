// `npm run bench <name> -- [options]`: parses the options and runs the benchmark.
import { parseArgs } from "node:util";
import { SCHEMES } from "../test/support/event-store/eventstoredb-double/double.ts";
import { benchAbuse } from "./abuse.ts";
import { benchColdLookups } from "./cold-lookups.ts";
import { benchLogSize } from "./log-size.ts";
import { benchPortal } from "./portal.ts";
import { benchQr } from "./qr.ts";
import { benchRedirect } from "./redirect.ts";
import { benchStart } from "./start.ts";
import { benchWebhooks } from "./webhooks.ts";

const USAGE = `usage: npm run bench redirect -- [--durable] [--rounds 3] [--seconds 8] [--markdown] [--profile DIR]
                                      [--double esdb|kurrentdb]
       npm run bench portal -- [--links 100000] [--clicks 1000000] [--requests 50] [--markdown]
       npm run bench cold-lookups -- [--rounds 3]
       npm run bench qr -- [--rounds 3] [--seconds 8]
       npm run bench log-size -- [--clicks 10000]
       npm run bench start -- [--rounds 3] [--against FOLDER]
       npm run bench webhooks -- [--burst 2000] [--rate 50] [--seconds 8]
       npm run bench abuse -- [--seconds 30] [--rate 2000] [--only KIND,KIND] [--markdown]`;

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    durable: { type: "boolean", default: false },
    markdown: { type: "boolean", default: false },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string" },
    profile: { type: "string" },
    double: { type: "string" },
    links: { type: "string", default: "100000" },
    clicks: { type: "string", default: "1000000" },
    requests: { type: "string", default: "50" },
    burst: { type: "string", default: "2000" },
    rate: { type: "string" },
    only: { type: "string" },
    against: { type: "string" },
  },
});

if (positionals[0] === "redirect") {
  const { rounds, seconds, ...options } = values;
  const double = SCHEMES.find((scheme) => scheme === values.double);
  const sizes = { rounds: Number(rounds), seconds: Number(seconds ?? 8) };
  const complete = await benchRedirect({ ...options, ...sizes, double });
  process.exitCode = complete ? 0 : 1;
} else if (positionals[0] === "portal") {
  const { links, clicks, requests, markdown } = values;
  const sizes = { links: Number(links), clicks: Number(clicks), requests: Number(requests) };
  process.exitCode = (await benchPortal({ ...sizes, markdown })) ? 0 : 1;
} else if (positionals[0] === "cold-lookups") {
  await benchColdLookups(Number(values.rounds));
} else if (positionals[0] === "qr") {
  const { rounds, seconds } = values;
  process.exitCode = (await benchQr({ rounds: Number(rounds), seconds: Number(seconds ?? 8) })) ? 0 : 1;
} else if (positionals[0] === "log-size") {
  process.exitCode = (await benchLogSize({ clicks: Math.min(Number(values.clicks), 10_000) })) ? 0 : 1;
} else if (positionals[0] === "start") {
  await benchStart({ rounds: Number(values.rounds), against: values.against });
} else if (positionals[0] === "webhooks") {
  const { burst, rate, seconds } = values;
  const sizes = { burst: Number(burst), rate: Number(rate ?? 50), seconds: Number(seconds ?? 8) };
  process.exitCode = (await benchWebhooks(sizes)) ? 0 : 1;
} else if (positionals[0] === "abuse") {
  const { seconds, rate, markdown, only } = values;
  const sizes = { seconds: Number(seconds ?? 30), rate: Number(rate ?? 2000) };
  process.exitCode = (await benchAbuse({ ...sizes, markdown, only: only?.split(",") })) ? 0 : 1;
} else {
  console.error(USAGE);
  process.exitCode = 2;
}
