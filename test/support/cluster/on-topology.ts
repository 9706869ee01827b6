// Runs the tests of another file on other processes than one: a cluster with real servers, or `--workers 2`.
import { it } from "vitest";
import { isLong } from "../runtime/effort.ts";
import { mongodb } from "../servers/mongodb-server.ts";
import { redis } from "../servers/redis-server.ts";
import { onServer } from "../servers/test-servers.ts";

export type Topology = "cluster" | "workers";
/** `always`: also in the short form; each takes the start of four or five processes. */
export type When = "always" | "in the long form";

/** `load` imports the file; what does not run here is one skipped test that says why. */
export async function onTopology(
  topology: Topology,
  when: When,
  load: () => Promise<unknown>,
): Promise<void> {
  if (when !== "always" && !isLong)
    return it.skip(`${topology}: part of the long form (TEST_LONG=1)`, () => undefined);
  const missing = [redis, mongodb].find(({ reason }) => reason !== undefined);
  if (topology === "cluster" && missing) return onServer(missing, () => undefined);
  process.env.TEST_TOPOLOGY = topology;
  await load();
}
