// Compares the rounds of the service with those of the bare server, for `npm run bench redirect`.
import type { LoadResult } from "./load.ts";
import { whole } from "./report.ts";
import { median } from "./statistics.ts";

export type Round = { bare: LoadResult; service: LoadResult };

/** The service's median rate over the bare server's. */
export function ratio(rounds: readonly Round[]): number {
  return medianOf(rounds, "service", "rate") / medianOf(rounds, "bare", "rate");
}

export function roundLine(number: number, { bare, service }: Round): string {
  return `round ${number}   bare ${whole(bare.rate)}/s   service ${whole(service.rate)}/s   ratio ${(service.rate / bare.rate).toFixed(2)}`;
}

/** Medians of rate and latencies, with a head. */
export function comparison(rounds: readonly Round[]): string[][] {
  const row = (name: string, side: keyof Round) => [
    name,
    whole(medianOf(rounds, side, "rate")),
    medianOf(rounds, side, "p50").toFixed(1),
    medianOf(rounds, side, "p99").toFixed(1),
  ];
  return [
    ["", "redirects/s", "p50 ms", "p99 ms"],
    row("bare Fastify 301", "bare"),
    row("service, recording", "service"),
  ];
}

function medianOf(rounds: readonly Round[], side: keyof Round, field: keyof LoadResult): number {
  return median(rounds.map((round) => round[side][field]));
}
