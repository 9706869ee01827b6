// The receiver of the webhook benchmark, a process of its own: acknowledges immediately, counts deliveries and their lags.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { quantile } from "../report.ts";

/** Answered once `count` deliveries have come since the last order, or after `timeoutMs`. */
export type ReceiverOrder = { count: number; timeoutMs: number };

/** Times in milliseconds; lags from the click to its delivery's arrival. */
export type Received = {
  count: number;
  repeated: number;
  /** From the first arrival to the last. */
  tookMs: number;
  p50: number;
  p99: number;
};

let seen = new Set<string>();
let lags: number[] = [];
let repeated = 0;
let firstAt = 0;
let lastAt = 0;
let onArrival = () => {};

const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  response.writeHead(200, { "content-type": "application/json" }).end('{"received":true}');
  const now = Date.now();
  const delivery = `${request.url} ${request.headers["webhook-id"]}`;
  if (seen.has(delivery)) repeated += 1;
  seen.add(delivery);
  if (lags.length === 0) firstAt = now;
  lastAt = now;
  lags.push(now - Date.parse(JSON.parse(Buffer.concat(chunks).toString()).timestamp));
  onArrival();
});
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.once("disconnect", () => process.exit(0));

process.on("message", async ({ count, timeoutMs }: ReceiverOrder) => {
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, timeoutMs);
  onArrival = () => seen.size >= count && resolve();
  onArrival();
  await enough;
  clearTimeout(timer);
  process.send?.(report());
  [seen, lags, repeated, onArrival] = [new Set(), [], 0, () => {}];
});

function report(): Received {
  const [p50, p99] = [quantile(lags, 0.5), quantile(lags, 0.99)];
  return { count: seen.size, repeated, tookMs: lastAt - firstAt, p50, p99 };
}
