// The load generator: sends a number of requests for each order, and answers with rate and latencies.
import autocannon, { type Client, type Result } from "autocannon";
import { type LoadOrder, type LoadResult, RESPONSE_TIMEOUT_S } from "./load.ts";
import { quantile } from "./statistics.ts";
import { requestsOf } from "./traffic/requests.ts";

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
    timeout: RESPONSE_TIMEOUT_S,
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
  // The first answer of each connection waits while autocannon prepares requests, so its latency is not counted.
  const warm = new Set<Client>();
  let timed = 0;
  // autocannon's own duration is rounded up to its next sample, so the rate is computed from the last answer's time.
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
