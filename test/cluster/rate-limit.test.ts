// What test/api/rate-limit.test.ts says of one process, on a cluster of them with settings of its own.
import { onTopology } from "../support/cluster/on-topology.ts";

await onTopology("cluster", { long: { "rate-limit": () => import("../api/rate-limit.test.ts") } });
