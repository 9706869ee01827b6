// The load generator, a process of its own: asked for a number of requests, it answers how that went.
import autocannon, { type Client, type Result } from "autocannon";
import { quantile } from "./report.ts";
import { requestsOf } from "./traffic/requests.ts";

/** `rate`: requests a second in all; as fast as it goes without. `links`: how many were seeded. */
export type LoadOrder = { url: string; connections: number; amount: number; rate?: number; links?: number };

/**
 * `answered`: redirects received; `other`: any other answer; rates in requests/s, latencies in milliseconds, without the
 * first request of each connection.
 */
export type LoadResult = {
  answered: number;
  other: number;
  errors: number;
  seconds: number;
  rate: number;
  p50: number;
  p99: number;
};

/** autocannon prepares the requests of all connections at one stretch, for over ten seconds on a machine that is busy. */
const TIMEOUT_S = 60;

let pool: ReturnType<typeof requestsOf>[] = [];

process.on("message", async (order: LoadOrder) => {
  process.send?.(await run(order));
});
process.once("disconnect", () => process.exit(0));

async function run({ url, connections, amount, rate, links }: LoadOrder): Promise<LoadResult> {
  if (pool.length !== connections) {
    pool = Array.from({ length: connections }, (_, connection) => requestsOf(connection, connections, links));
  }
  let nextClient = 0;
  const latencies = new Float64Array(amount + connections);
  let responses = 0;
  let redirects = 0;
  let firstAt = 0;
  let lastAt = 0;
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const options = {
    url,
    connections,
    amount,
    sampleInt: 100,
    timeout: TIMEOUT_S,
    ...(rate === undefined ? {} : { overallRate: rate }),
    setupClient: (client: Client) => {
      client.setRequests(pool[nextClient % connections] ?? []);
      nextClient += 1;
    },
  };
  const running = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
  running.on("start", () => {
    firstAt = performance.now();
  });
  // autocannon prepares the requests of all connections while the first answers of some already wait to be read.
  const warm = new Set<Client>();
  let timed = 0;
  // autocannon counts time up to its next sample; the last answer's own time makes the rate exact.
  running.on("response", (client, status, _bytes, latency) => {
    if (warm.has(client)) latencies[timed++] = latency;
    warm.add(client);
    responses += 1;
    if (Number(status) === 301) redirects += 1;
    lastAt = performance.now();
  });
  const { errors } = await promise;
  const sorted = latencies.subarray(0, timed).sort();
  const seconds = (lastAt - firstAt) / 1000;
  return {
    answered: redirects,
    other: responses - redirects,
    errors,
    seconds,
    rate: responses / seconds,
    p50: quantile(sorted, 0.5),
    p99: quantile(sorted, 0.99),
  };
}
