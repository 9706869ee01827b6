// Prints what a comparison measured, for people and as the table of docs/performance.md.
import { cpus } from "node:os";
import type { LoadResult } from "./load-process.ts";

export type Round = { bare: LoadResult; service: LoadResult };

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  if (sorted.length % 2 === 1) return sorted[Math.floor(middle)] ?? Number.NaN;
  return ((sorted[middle - 1] ?? Number.NaN) + (sorted[middle] ?? Number.NaN)) / 2;
}

/** Of values in ascending order. */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(q * sorted.length))] ?? Number.NaN;
}

/** The service's median rate over the bare server's. */
export function ratio(rounds: readonly Round[]): number {
  return medianOf(rounds, "service", "rate") / medianOf(rounds, "bare", "rate");
}

export function roundLine(number: number, { bare, service }: Round): string {
  return `round ${number}   bare ${whole(bare.rate)}/s   service ${whole(service.rate)}/s   ratio ${(service.rate / bare.rate).toFixed(2)}`;
}

export function machineLine(): string {
  const [cpu] = cpus();
  return `Node ${process.version}, ${cpus().length} x ${cpu?.model ?? "unknown processor"}`;
}

export function plainTable(rounds: readonly Round[]): string {
  return rows(rounds)
    .map((cells) => cells.map((cell, i) => (i === 0 ? cell.padEnd(18) : cell.padStart(13))).join(""))
    .join("\n");
}

export function markdownTable(rounds: readonly Round[]): string {
  const [head = [], ...body] = rows(rounds);
  const line = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [line(head), line(head.map((_, i) => (i === 0 ? "---" : "---:"))), ...body.map(line)].join("\n");
}

function rows(rounds: readonly Round[]): string[][] {
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

export function whole(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}
