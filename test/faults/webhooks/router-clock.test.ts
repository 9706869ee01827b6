// The router while the service has no webhook, and its clock is set back.
import { it, onTestFinished } from "vitest";
import { ROUTER_CHECKPOINT } from "../../../src/coordination/consumer-checkpoint.ts";
import type { ReadStore } from "../../../src/read-store/port.ts";
import { routeClicks } from "../../../src/webhooks/routing/router.ts";
import { storeWith } from "../../support/runtime/store-with.ts";
import { until } from "../../support/runtime/until.ts";
import { openWebhookStores } from "../../support/webhooks/webhook-run.ts";

it("goes on with the log before the first webhook also when the clock was set back", async () => {
  const stores = await openWebhookStores();
  onTestFinished(() => stores.close());
  const { eventStore, readStore, deliveryQueue: queue } = stores.backend;
  const account = await stores.account();
  let setBackMs = 0;
  const saveCheckpoint: ReadStore["saveCheckpoint"] = async (...saved) => {
    await readStore.saveCheckpoint(...saved);
    setBackMs = 3_600_000;
  };
  const reachesHead = async () =>
    (await readStore.checkpoint(ROUTER_CHECKPOINT))?.position === (await eventStore.head());
  const stop = new AbortController();
  const deps = {
    ...{ eventStore, queue, baseUrl: "https://sho.rt", log: { error: () => undefined } },
    ...{ onQueued: () => undefined, onProgress: () => undefined },
    readStore: storeWith(readStore, { saveCheckpoint }),
    clock: () => new Date(Date.now() - setBackMs),
  };
  const routing = routeClicks(deps, stop.signal);
  await until("the head to be saved", reachesHead);
  await stores.clicks(account, 1);
  await until("the head to be saved again", reachesHead, { withinMs: 10_000 }).finally(() => stop.abort());
  await routing;
});
