// Reads from /metrics how late deliveries were taken up, so that one phase can be told from the one before.
import { setTimeout as delay } from "node:timers/promises";

const BUCKET = /^linkledger_webhook_claim_lag_seconds_bucket\{le="([^"]+)"\} (\d+)$/gm;
const TRIES = 300;

/** Deliveries taken up at most that many seconds late, by bound; the last bound is endless. */
export type ClaimLags = ReadonlyMap<number, number>;

/**
 * Once at least that many have been taken up: the thread that counts them tells when it has time.
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

/** The smallest bound in seconds that the share `q` of the deliveries between two readings kept. */
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
