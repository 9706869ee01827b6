// What files of test/api say of one process, with `--workers 2`.
import { onTopology } from "../../support/cluster/on-topology.ts";

await onTopology("workers", {
  always: { "shorten-bulk": () => import("../../api/shorten-bulk.test.ts") },
  long: {
    authentication: () => import("../../api/authentication.test.ts"),
    "link-life": () => import("../../api/link-life.test.ts"),
    "link-lists": () => import("../../api/link-lists.test.ts"),
    reading: () => import("../../api/reading.test.ts"),
  },
});
