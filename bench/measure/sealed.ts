// Waits for the seals of the log, which follow the documents.
import { readSeal } from "../../src/audit/seals/judge-seals.ts";
import { BLOCK_EVENTS } from "../../src/audit/seals/seal.ts";
import type { Backend } from "../../src/backend.ts";
import { CATEGORY, SEALS_STREAM } from "../../src/events/streams.ts";
import { until } from "../../test/support/runtime/until.ts";

const PATIENCE = { withinMs: 300_000, everyMs: 100 };

/** Resolves when fewer events than the next seal needs are behind the newest one. @throws after five minutes */
export async function untilSealed({ eventStore }: Pick<Backend, "eventStore">): Promise<void> {
  const isSealed = async () => {
    const [newest] = await eventStore.read(SEALS_STREAM, { backwards: true, limit: 1 });
    const after = newest && readSeal(newest)?.position;
    const unsealed = { after, categories: Object.values(CATEGORY), limit: BLOCK_EVENTS };
    return (await eventStore.readAll(unsealed)).length < BLOCK_EVENTS;
  };
  await until("the seals of the log", isSealed, PATIENCE);
}
