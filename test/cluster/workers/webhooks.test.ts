// What test/api/webhooks.test.ts says of one process, with `--workers 2` and settings of its own.
import { onTopology } from "../../support/cluster/on-topology.ts";

await onTopology("workers", { long: { webhooks: () => import("../../api/webhooks.test.ts") } });
