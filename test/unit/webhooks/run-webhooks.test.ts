// The parts of webhooks run together: how they end.
import { it, onTestFinished } from "vitest";
import { parseConfig } from "../../../src/config.ts";
import { createLogger } from "../../../src/runtime/logging.ts";
import { startWebhooks } from "../../../src/webhooks/webhooks.ts";
import { temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { openWebhookStores, webhooksOn } from "../../support/webhooks/webhook-run.ts";

it("ends webhooks that are stopped before they run", async () => {
  const stores = await openWebhookStores();
  onTestFinished(() => stores.close());
  const send = () => Promise.reject(new Error("nothing to send"));
  await webhooksOn(stores.backend, { send }).run(AbortSignal.abort());
});

it("ends the webhooks thread by itself when it is stopped while it starts", async () => {
  const folder = await temporaryFolder();
  onTestFinished(folder.remove);
  const config = parseConfig({ DATA_DIR: folder.path, GEOIP_DB: "" });
  const webhooks = startWebhooks(config, createLogger("silent"));
  await webhooks.stop(120_000);
});
