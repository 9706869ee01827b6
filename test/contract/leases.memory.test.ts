// The leases contract within one process.
import { memoryLeases } from "../../src/stores/coordination/leases.memory.ts";
import { leasesContract } from "./leases.ts";

leasesContract("in process", async () => {
  const leases = memoryLeases(() => performance.now());
  return { leases, others: leases, close: async () => undefined };
});
