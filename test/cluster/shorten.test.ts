// What test/api/shorten.test.ts says of one process, on a cluster of them.
import { onTopology } from "../support/cluster/on-topology.ts";

await onTopology("cluster", "always", () => import("../api/shorten.test.ts"));
