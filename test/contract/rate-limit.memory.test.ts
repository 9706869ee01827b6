// The rate limit contract within one process.
import { memoryRateLimits } from "../../src/api/limits/rate-limit.memory.ts";
import { rateLimitsContract } from "./rate-limit.ts";

rateLimitsContract("in process", async () => {
  const limits = memoryRateLimits();
  return { limits, others: limits, close: async () => undefined };
});
