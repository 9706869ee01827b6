// The service as `--workers 2`: two processes that answer on one port, and one for the projector and the webhooks.
import { createInterface } from "node:readline";
import { parseConfig } from "../../../src/config/config.ts";
import { openBackend } from "../../../src/service/stores/backend.ts";
import { temporaryFolder } from "../runtime/temporary-folder.ts";
import { until } from "../runtime/until.ts";
import { send } from "./ask.ts";
import { instanceOf, startService } from "./service-process.ts";
import type { Running } from "./start-service.ts";

/** Both that answer HTTP, and the one in the background. The first is ready before the others are started. */
export async function allWorkersAnswer(port: number): Promise<void> {
  await until("all workers to answer", async () =>
    (await send(port, "/metrics", {})).text.includes("linkledger_workers 3"),
  );
}

/** Each request has a connection of its own, so that the workers take turns. */
export async function startOnWorkers(environment: Record<string, string>): Promise<Running> {
  const folder = await temporaryFolder();
  const instance = await instanceOf(folder.path, { LOG_LEVEL: "info", ...environment });
  const service = await startService(instance, { serve: ["--workers", "2"] });
  const config = parseConfig(instance);
  const port = config.port;
  await allWorkersAnswer(port);
  const backend = await openBackend(config);
  const logged: string[] = [];
  for (const stream of [service.child.stdout, service.child.stderr])
    if (stream) createInterface({ input: stream }).on("line", (line) => logged.push(`${line}\n`));
  return {
    ...{ config, backend, port, logged },
    ask: (path, given) => send(port, path, given),
    async stop() {
      await backend.close();
      await service.stop();
      await folder.remove();
    },
  };
}
