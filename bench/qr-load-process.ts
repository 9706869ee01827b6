// Requests the largest QR images without a pause, in a process of its own, until the order to stop.
import autocannon, { type Result } from "autocannon";
import { RESPONSE_TIMEOUT_S } from "./load.ts";
import { benchSlug } from "./traffic/requests.ts";

/** `stop` is answered with a QrLoad; a start has no answer. */
export type QrOrder = { url: string; connections: number; links: number } | { stop: true };

/** `images`: answered with 200; the rates in images/s. */
export type QrLoad = { images: number; other: number; errors: number; rate: number };

/** Below the limit of 1,000 an hour, after which another client address is used. */
const IMAGES_PER_ADDRESS = 500;
let requested = 0;

let stopLoad: (() => Promise<QrLoad>) | undefined;

process.on("message", async (order: QrOrder) => {
  if ("stop" in order) process.send?.(await stopLoad?.());
  else stopLoad = startLoad(order);
});
process.once("disconnect", () => process.exit(0));

/** Every request is for another image, so that none is cached. */
function startLoad({ url, connections, links }: Exclude<QrOrder, { stop: true }>): () => Promise<QrLoad> {
  const startedAt = performance.now();
  const next = () => {
    requested += 1;
    const address = Math.floor(requested / IMAGES_PER_ADDRESS);
    const colour = (requested % 0xff_ff_ff).toString(16).padStart(6, "0");
    return {
      path: `/api/qr/${benchSlug(requested % links)}?size=2048&margin=0&ecc=H&dark=${colour}`,
      headers: { "x-forwarded-for": `198.18.${address >> 8}.${address & 255}` },
    };
  };
  const requests = [{ setupRequest: (request: object) => ({ ...request, ...next() }) }];
  const { promise, resolve, reject } = Promise.withResolvers<Result>();
  const options = { url, connections, duration: 3_600, timeout: RESPONSE_TIMEOUT_S, requests };
  const running = autocannon(options, (error, result) => (error ? reject(error) : resolve(result)));
  return async () => {
    running.stop();
    const { errors, statusCodeStats } = await promise;
    const images = statusCodeStats?.["200"]?.count ?? 0;
    const answered = Object.values(statusCodeStats ?? {}).reduce((sum, { count = 0 }) => sum + count, 0);
    const rate = images / ((performance.now() - startedAt) / 1000);
    return { images, other: answered - images, errors, rate };
  };
}
