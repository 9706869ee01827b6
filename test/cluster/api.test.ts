// What files of test/api say of one process, on one cluster of them.
import { onTopology } from "../support/cluster/on-topology.ts";

await onTopology("cluster", {
  always: {
    "link-lists": () => import("../api/link-lists.test.ts"),
    reading: () => import("../api/reading.test.ts"),
    shorten: () => import("../api/shorten.test.ts"),
  },
  long: {
    "analytics-ranges": () => import("../api/analytics-ranges.test.ts"),
    authentication: () => import("../api/authentication.test.ts"),
    "bad-input": () => import("../api/bad-input.test.ts"),
    events: () => import("../api/events.test.ts"),
    hosts: () => import("../api/hosts.test.ts"),
    "link-life": () => import("../api/link-life.test.ts"),
    "shorten-bulk": () => import("../api/shorten-bulk.test.ts"),
  },
});
