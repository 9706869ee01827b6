// Drives the load generator, which is a process of its own.
import { startChild } from "./child.ts";
import type { Traffic } from "./requests.ts";

/**
 * `rate`: requests a second over all connections, unlimited when absent. `expect`: status of a good answer. `amount`: ends
 * after that many requests, even before the time.
 */
export type LoadOrder = {
  url: string;
  traffic: Traffic;
  expect: number;
  seconds: number;
  amount?: number | undefined;
  rate?: number | undefined;
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

/** Starts the generator; `run` sends requests for some seconds and resolves when all are answered. */
export function startLoad() {
  const child = startChild("load/load-process.ts");
  let seed = 0;
  return {
    run: (order: Omit<LoadOrder, "seed" | "expect"> & Partial<LoadOrder>) => {
      seed += 1;
      return child.request<LoadResult>({ seed, expect: 301, ...order } satisfies LoadOrder);
    },
    stop: child.stop,
  };
}
