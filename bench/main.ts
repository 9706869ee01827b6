// `npm run bench <name>`: runs the benchmark, and fails when something was lost or counted twice.
import { availableParallelism } from "node:os";
import { benchAbuse } from "./abuse/abuse.ts";
import { benchAnalytics } from "./analytics.ts";
import { benchCreate } from "./create.ts";
import { type Options, readOptions } from "./options.ts";
import { benchRebuild } from "./rebuild.ts";
import { benchRedirect } from "./redirect.ts";
import { benchWebhooks } from "./webhooks/webhooks.ts";

/** Whether everything that was answered is in the log and in the documents exactly once. */
export type Benchmark = (options: Options) => Promise<boolean>;

const BENCHMARKS: Readonly<Record<string, Benchmark>> = {
  redirect: benchRedirect,
  rebuild: benchRebuild,
  create: benchCreate,
  webhooks: benchWebhooks,
  abuse: benchAbuse,
  analytics: benchAnalytics,
};

const USAGE = `usage: npm run bench <name> -- [options]

redirect   redirects a second and their CPU time: batched, durable, unknown slugs, and a bare Fastify
           [--seconds 6] of a round  [--links 10000]
rebuild    events a second of \`projections rebuild\`, over 30 days  [--events 1000000] [--links 100000]
create     links a second over the API, single and in bulk  [--seconds 5]
webhooks   deliveries a second after a burst of clicks, and their delay at a steady rate  [--seconds 8]
abuse      redirects while others do their worst  [--seconds 30]
analytics  numbers of an account, and redirects beside them  [--events 1000000] [--links 100000] [--seconds 20]
all        each of them

--quick    in seconds, only that everything is counted once`;

// Otherwise what it has started would go on without it.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) process.once(signal, () => process.exit(1));

const { name, options } = readOptions();
const names = name === "all" ? Object.keys(BENCHMARKS) : [name];
for (const each of names) await run(each);

async function run(name: string): Promise<void> {
  const benchmark = BENCHMARKS[name];
  if (!benchmark) {
    console.error(USAGE);
    process.exitCode = 2;
    return;
  }
  console.log(`\n== ${name}: Node ${process.version}, ${availableParallelism()} cores`);
  const passed = await benchmark(options);
  console.log(passed ? "passed" : "FAILED");
  if (!passed) process.exitCode = 1;
}
