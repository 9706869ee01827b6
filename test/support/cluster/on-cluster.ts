// Runs the tests of another file on a cluster of processes: two nodes, a projector, a webhook worker, real servers.
import { mongodb } from "../servers/mongodb-server.ts";
import { redis } from "../servers/redis-server.ts";
import { onServer } from "../servers/test-servers.ts";

/** `load` imports the file; without its servers it is one skipped test that says so. */
export async function onCluster(load: () => Promise<unknown>): Promise<void> {
  const missing = [redis, mongodb].find(({ reason }) => reason !== undefined);
  if (missing) return onServer(missing, () => undefined);
  process.env.TEST_TOPOLOGY = "cluster";
  await load();
}
