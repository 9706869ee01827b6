// What test/api/link-life.test.ts says of one process, on a cluster of them.
import { onTopology } from "../support/cluster/on-topology.ts";

await onTopology("cluster", "in the long form", () => import("../api/link-life.test.ts"));
