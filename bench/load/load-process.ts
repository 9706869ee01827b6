// The load generator's process: sends requests as each order says, and answers with rate and latencies.
import { writeFileSync } from "node:fs";
import type { LoadOrder } from "./load.ts";
import { LoadRun } from "./load-run.ts";

process.on("message", async (order: LoadOrder) => {
  const run = new LoadRun(order);
  const result = await run.finished();
  if (order.keepSlugs) writeFileSync(order.keepSlugs, `${run.slugs.join("\n")}\n`);
  process.send?.(result);
});
process.once("disconnect", () => process.exit(0));
