// A worker's side of what the processes of `--workers N` do together.
import cluster from "node:cluster";
import { memoryRateLimits, withOwnLimits } from "../../api/limits/rate-limit.memory.ts";
import type { RateLimits, RateWindow } from "../../api/limits/rate-limit.ts";
import type { Config } from "../../config/config.ts";
import type { VisitCounter } from "../../redirect/visits/visit-counter.ts";
import { OutageBreaker } from "../../runtime/outage-breaker.ts";
import { CoordinationUnavailable } from "../../stores/connections/errors.ts";
import type { WorkerGroup } from "../roles/role-context.ts";
import { type IpcCalls, ipcCalls } from "./ipc-calls.ts";

/**
 * With Redis, rate windows and counts of visits are there. Until `onStop` is called, the process ends at once when
 * it is to stop.
 */
export function joinWorkers({
  redisUrl,
}: Pick<Config, "redisUrl">): WorkerGroup & { ready(): Promise<void> } {
  let ownMetrics: () => Promise<object[]> = async () => [];
  let stop: () => void = () => process.exit();
  const calls = ipcCalls(
    {
      send: (message) => void (process.connected && process.send?.(message, () => undefined)),
      onMessage: (receive) => void process.on("message", receive),
    },
    { metrics: () => ownMetrics(), stop: async () => stop() },
  );
  const shared: RateLimits = {
    take: async (subject, limit, now, requests = 1) =>
      (await calls.call("take", subject, limit, now.getTime(), requests)) as RateWindow,
  };
  const rateLimits = withOwnLimits(shared, memoryRateLimits());
  return {
    ...(redisUrl ? {} : { rateLimits, visitCounter: visitCounterOfPrimary(calls) }),
    answerMetrics(own) {
      ownMetrics = own;
    },
    metricsText: async () => (await calls.call("metrics")) as string,
    onStop(graceful) {
      let isStopping = false;
      stop = () => {
        // A second call would end the process at once.
        if (!isStopping) graceful();
        isStopping = true;
      };
      cluster.worker?.once("disconnect", () => {
        // Otherwise node:cluster ends this process at once, without committing clicks.
        if (cluster.worker) cluster.worker.exitedAfterDisconnect = true;
        // Open requests wait for their window, and the stop for them.
        calls.end();
        stop();
      });
    },
    async ready() {
      // A primary that has gone needs no answer, and a rejection here would end the process before its stop.
      await calls.call("ready").catch(() => undefined);
    },
  };
}

/** While the primary does not answer, one call a second waits for it: the others are refused at once. */
export function visitCounterOfPrimary(calls: Pick<IpcCalls, "call">): VisitCounter {
  const breaker = new OutageBreaker();
  return {
    async count(link, most, visits) {
      if (!breaker.admits()) throw new CoordinationUnavailable("The primary of --workers does not answer");
      try {
        const isBelow = await calls.call("countVisit", link, most, visits);
        breaker.succeeded();
        return isBelow as boolean | undefined;
      } catch (error) {
        breaker.failed();
        throw error;
      }
    },
  };
}
