// What test/api/events.test.ts says of one process, on a cluster of them.
import { onCluster } from "../support/cluster/on-cluster.ts";

await onCluster(() => import("../api/events.test.ts"));
