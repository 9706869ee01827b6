// The service as two nodes that answer, a projector and a webhook worker, each a process, on real servers.
import { createInterface } from "node:readline";
import { type Ask, onceReadable } from "../service/ask.ts";
import type { Running } from "../service/start-service.ts";
import { type Cluster, type RoleProcess, startCluster } from "./cluster.ts";

export async function startOnCluster(
  environment: Record<string, string>,
  clock: (() => Date) | undefined,
): Promise<Running> {
  const { DATA_DIR: _, PORT: __, ...given } = environment;
  const cluster = await startCluster({ LOG_LEVEL: "info", ...given });
  try {
    const processes = await Promise.all(
      ["api,portal,redirect", "api,portal,redirect", "projector", "webhooks"].map((roles) =>
        cluster.start(roles, {}, clock),
      ),
    );
    await Promise.all(processes.map((process) => process.ready()));
    return running(cluster, processes);
  } catch (error) {
    await cluster.stop();
    throw error;
  }
}

/** The two nodes take turns, so that what one was told is asked of the other. */
function running(cluster: Cluster, processes: readonly RoleProcess[]): Running {
  const [one, other] = processes as [RoleProcess, RoleProcess];
  const logged: string[] = [];
  for (const process of processes) keepLines(process, logged);
  let turn = 0;
  return {
    config: cluster.config,
    backend: cluster.backend,
    port: one.port,
    logged,
    ask<T>(path: string, given: Ask) {
      turn += 1;
      const node = turn % 2 ? one : other;
      return onceReadable(() => node.ask<T>(path, given));
    },
    stop: () => cluster.stop(),
  };
}

/** From now on, in the order in which they come. */
function keepLines({ child }: RoleProcess, lines: string[]): void {
  for (const stream of [child.stdout, child.stderr]) {
    if (stream) createInterface({ input: stream }).on("line", (line) => lines.push(`${line}\n`));
  }
}
