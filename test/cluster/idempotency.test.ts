// What test/api/idempotency.test.ts says of one process, on a cluster of them.
import { onCluster } from "../support/on-cluster.ts";

await onCluster(() => import("../api/idempotency.test.ts"));
