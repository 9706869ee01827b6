// The floor of a rebuild: reads and decodes every event through the event store, and folds nothing. Answers with a Scan.
import { openBackend } from "../../src/backend.ts";
import { parseConfig } from "../../src/config.ts";

export type Scan = { events: number; seconds: number; cpuSeconds: number };

const PAGE = 5_000;

process.on("message", async (environment: Record<string, string>) => {
  const backend = await openBackend(parseConfig(environment), { offThread: false });
  const cpu = process.cpuUsage();
  const started = performance.now();
  let events = 0;
  let after: string | undefined;
  for (;;) {
    const page = await backend.eventStore.readAll({ categories: [""], after, limit: PAGE });
    if (page.length === 0) break;
    events += page.length;
    after = page.at(-1)?.position;
  }
  const seconds = (performance.now() - started) / 1000;
  const { user, system } = process.cpuUsage(cpu);
  await backend.close();
  process.send?.({ events, seconds, cpuSeconds: (user + system) / 1e6 } satisfies Scan);
});
process.once("disconnect", () => process.exit(0));
