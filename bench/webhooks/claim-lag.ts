// Reads the claim lag of deliveries from /metrics, so that its distribution can be computed for one phase.
import { setTimeout as delay } from "node:timers/promises";

const BUCKET = /^linkledger_webhook_claim_lag_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm;
const TRIES = 300;

/** The histogram's cumulative counts of deliveries by bound in seconds; the last bound is infinite. */
export type ClaimLags = ReadonlyMap<number, number>;

/**
 * Polls until at least that many deliveries are counted, as the webhooks thread reports its counts with a delay.
 * @throws after a minute
 */
export async function claimLags(serviceUrl: string, atLeast: number): Promise<ClaimLags> {
  for (let tries = 0; tries < TRIES; tries++) {
    const lags = parse(await (await fetch(`${serviceUrl}/metrics`)).text());
    if (lags.size > 0 && totalOf(lags) >= atLeast) return lags;
    await delay(200);
  }
  throw new Error(`/metrics does not show that ${atLeast} deliveries were taken up`);
}

/** The smallest bound in seconds that holds for the share `q` of the deliveries between two readings. */
export function boundOf(q: number, before: ClaimLags, after: ClaimLags): number {
  const wanted = (totalOf(after) - totalOf(before)) * q;
  const kept = [...after].find(([bound, count]) => count - (before.get(bound) ?? 0) >= wanted);
  return kept?.[0] ?? Number.NaN;
}

export function totalOf(lags: ClaimLags): number {
  return [...lags.values()].at(-1) ?? 0;
}

function parse(metrics: string): ClaimLags {
  const lines = [...metrics.matchAll(BUCKET)];
  return new Map(
    lines.map(([, bound, count]) => [
      bound === "+Inf" ? Number.POSITIVE_INFINITY : Number(bound),
      Number(count),
    ]),
  );
}
