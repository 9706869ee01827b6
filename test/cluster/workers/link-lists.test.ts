// What test/api/link-lists.test.ts says of one process, with `--workers 2`.
import { onTopology } from "../../support/cluster/on-topology.ts";

await onTopology("workers", "in the long form", () => import("../../api/link-lists.test.ts"));
