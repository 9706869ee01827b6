// Drives the load generator, which is a process of its own so that it takes no time from what is measured.
import { startChild } from "./child.ts";

/** `rate`: requests a second over all connections, unlimited when absent. `links`: how many were seeded. */
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

/** Connections of every benchmark that loads redirects. */
export const CONNECTIONS = 50;

/**
 * autocannon's time limit of an answer, longer than any phase. With its default of ten seconds a connection whose first
 * answer took longer, behind slow images or the preparation of all requests, set a timer with a negative delay
 * (retimer 3.0.0), for which Node prints a TimeoutNegativeWarning.
 */
export const RESPONSE_TIMEOUT_S = 300;

/** Starts the generator; `run` sends requests and resolves when all are answered. */
export function startLoad() {
  const child = startChild("./load-process.ts");
  return {
    run: (order: Omit<LoadOrder, "connections">) =>
      child.request<LoadResult>({ connections: CONNECTIONS, ...order } satisfies LoadOrder),
    stop: child.stop,
  };
}
