// Fills a log with clicks before a benchmark, in the batches of a busy recorder.
import type { Backend } from "../../src/backend.ts";
import { openClickLog } from "./click-log.ts";

const BATCH = 1_000;
/** Between two batches: 10,000 clicks/s. */
const EVERY_MS = 100;

export type ClickOrder = { baseUrl: string; accountId: string; clicks: number; link: () => number };

/** The last click is now. */
export async function seedClicks(
  { eventStore }: Pick<Backend, "eventStore">,
  order: ClickOrder,
): Promise<void> {
  const { clicks, link } = order;
  const log = await openClickLog({ eventStore, ...order });
  const start = Date.now() - (clicks / BATCH) * EVERY_MS;
  for (let first = 0; first < clicks; first += BATCH)
    await log.append(Math.min(BATCH, clicks - first), start + (first / BATCH) * EVERY_MS, link);
}
