// Runs the tests of other files on other processes than one: a cluster with real servers, or `--workers 2`.
import { afterAll, describe, it } from "vitest";
import { isLong } from "../runtime/effort.ts";
import { mongodb } from "../servers/mongodb-server.ts";
import { redis } from "../servers/redis-server.ts";
import { onServer } from "../servers/test-servers.ts";
import { stopShared } from "../service/start-service.ts";

export type Topology = "cluster" | "workers";

/** Files by their names; each imports one. */
type Files = Readonly<Record<string, () => Promise<unknown>>>;

/**
 * Those that start a service with the same settings share it, as each start is one of four or five processes. `long`: in the
 * long form alone. What does not run here is one skipped test that says why.
 */
export async function onTopology(
  topology: Topology,
  { always = {}, long = {} }: { always?: Files; long?: Files },
): Promise<void> {
  const missing = [redis, mongodb].find(({ reason }) => reason !== undefined);
  if (topology === "cluster" && missing) return onServer(missing, () => undefined);
  process.env.TEST_TOPOLOGY = topology;
  afterAll(stopShared);
  for (const [name, load] of Object.entries(always)) describe(name, async () => void (await load()));
  for (const [name, load] of Object.entries(long)) {
    if (isLong) describe(name, async () => void (await load()));
    else it.skip(`${topology}: ${name} is part of the long form (TEST_LONG=1)`, () => undefined);
  }
}
