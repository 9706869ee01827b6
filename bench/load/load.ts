// Drives the load generator, which is a process of its own so that it takes no time from what is measured.
import type { Traffic } from "../traffic/requests.ts";
import { startChild } from "./child.ts";

/**
 * `rate`: requests a second over all connections, unlimited when absent. `expect`: status of a good answer.
 * `keepSlugs`: file that gets the slugs of created links, one a line. `amount`: ends after that many requests.
 */
export type LoadOrder = {
  url: string;
  traffic: Traffic;
  expect: number;
  connections: number;
  seconds: number;
  amount?: number | undefined;
  rate?: number | undefined;
  keepSlugs?: string | undefined;
  seed: number;
};

/**
 * `answered`: with the expected status; `other`: any other answer; `errors`: none at all. Rates in requests/s, latencies
 * in milliseconds; with a `rate` from the moment at which a request was due.
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

export type Load = ReturnType<typeof startLoad>;

/** Connections of every benchmark that names no other number. */
export const CONNECTIONS = 50;

/** Starts the generator; `run` sends requests for some seconds and resolves when all are answered. */
export function startLoad() {
  const child = startChild("load/load-process.ts");
  let runs = 0;
  return {
    /** Each run has other draws; the same ones in each benchmark. */
    run: (order: Omit<LoadOrder, "connections" | "seed" | "expect"> & Partial<LoadOrder>) => {
      runs += 1;
      const defaults = { connections: CONNECTIONS, seed: runs, expect: 301 };
      return child.request<LoadResult>({ ...defaults, ...order } satisfies LoadOrder);
    },
    stop: child.stop,
  };
}
