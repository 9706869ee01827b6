// What test/api/analytics-ranges.test.ts says of one process, on a cluster of them.
import { onCluster } from "../support/cluster/on-cluster.ts";

await onCluster(() => import("../api/analytics-ranges.test.ts"));
