// What test/api/link-lists.test.ts says of one process, on a cluster of them: external ids and find_existing are raced.
import { onTopology } from "../support/cluster/on-topology.ts";

await onTopology("cluster", "always", () => import("../api/link-lists.test.ts"));
