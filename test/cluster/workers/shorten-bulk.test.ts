// What test/api/shorten-bulk.test.ts says of one process, with `--workers 2`.
import { onTopology } from "../../support/cluster/on-topology.ts";

await onTopology("workers", "always", () => import("../../api/shorten-bulk.test.ts"));
