// A worker's side of what the processes of `--workers N` do together.
import cluster from "node:cluster";
import { shareCalls } from "../../runtime/share-calls.ts";
import type { WorkerGroup } from "../roles/role-context.ts";
import { processCalls } from "./process-calls.ts";

/** Until `onStop` is called, the process ends at once when it is to stop. */
export function joinWorkers(
  own: Pick<WorkerGroup, "takesCommands">,
): WorkerGroup & { ready(): Promise<void> } {
  let ownMetrics: () => Promise<object[]> = async () => [];
  let catchUp: () => Promise<void> = async () => undefined;
  let stop: () => void = () => process.exit();
  const othersEnded = Promise.withResolvers<void>();
  const calls = processCalls(
    {
      send: (messages) => void (process.connected && process.send?.(messages, () => undefined)),
      onMessage: (receive) => void process.on("message", receive),
    },
    {
      metrics: () => ownMetrics(),
      follow: () => catchUp(),
      stop: async () => stop(),
      othersEnded: async () => othersEnded.resolve(),
    },
  );
  const askOthers = shareCalls(() => calls.call("follow"));
  return {
    takesCommands: own.takesCommands,
    onFollow(ownCatchUp) {
      catchUp = ownCatchUp;
    },
    // Without a primary this process stops, and the others, too.
    othersFollow: async () => void (await askOthers(undefined).catch(() => undefined)),
    answerMetrics(metrics) {
      ownMetrics = metrics;
    },
    othersEnded: () => othersEnded.promise,
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
        // Nobody says any more when they have.
        othersEnded.resolve();
        stop();
      });
    },
    async ready() {
      // A primary that has gone needs no answer, and a rejection here would end the process before its stop.
      await calls.call("ready").catch(() => undefined);
    },
  };
}
