// A service that is killed around the end of a link, and down when it comes, tells of the end once.

import { setTimeout as pause } from "node:timers/promises";
import { beforeAll, expect, it } from "vitest";
import { changeWebhook } from "../../src/commands/webhooks/change-webhooks.ts";
import { parseConfig } from "../../src/config/config.ts";
import { openBackend } from "../../src/service/stores/backend.ts";
import { operator } from "../support/commands/command-deps.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { effort } from "../support/runtime/effort.ts";
import { until } from "../support/runtime/until.ts";
import { instanceOfSuite } from "../support/service/instance-of-suite.ts";
import { accountWithKeys, startService } from "../support/service/service-process.ts";
import { webhookDeps, webhookOf } from "../support/webhooks/webhook-of.ts";
import { type Receiver, startReceiver } from "../support/webhooks/webhook-receiver.ts";

const KILLS = effort(3, 8);
const LINKS = 20;

const instance = instanceOfSuite({ WEBHOOK_ALLOW_PRIVATE: "true" });
let account: { accountId: string; keys: string[] };
beforeAll(async () => {
  account = await accountWithKeys(instance, "developer", 1);
}, 60_000);

/** With a webhook that is told of ends alone. */
async function receiverOfEnds(): Promise<Receiver> {
  const { accountId } = account;
  const receiver = await startReceiver();
  const backend = await openBackend(parseConfig(instance));
  const { webhookId } = await webhookOf(backend, accountId, receiver.port);
  await changeWebhook(webhookDeps(backend), operator, accountId, webhookId, { events: ["link.expired"] });
  await backend.close();
  return receiver;
}

it("tells of each link once, through kills while it notes them", { timeout: 300_000 }, async () => {
  const receiver = await receiverOfEnds();
  const key = account.keys[0] as string;
  let service = await startService(instance);
  const expires = Date.now() + 3_000;
  const slugs = new Set<string>();
  while (slugs.size < LINKS) {
    slugs.add(await service.shorten(key, { expires_at: new Date(expires).toISOString() }));
  }
  expect(Date.now()).toBeLessThan(expires);
  await service.stop("SIGKILL");
  await pause(Math.max(0, expires - Date.now()));
  for (let kill = 0; kill < KILLS; kill++) {
    service = await startService(instance);
    // The first runs note them: some are cut off in the middle.
    await pause(kill * 40);
    await service.stop("SIGKILL");
  }
  service = await startService(instance);
  const told = () =>
    new Set(receiver.received.map(({ body }) => JSON.parse(body.toString()).data.slug as string));
  await until("all ends", () => told().size === LINKS, { withinMs: 60_000 });
  await service.stop();
  expect([...told()].sort()).toEqual([...slugs].sort());
  const backend = await openBackend(parseConfig(instance));
  const events = await loggedEvents(backend.eventStore, { categories: ["link"], limit: 10_000 });
  await backend.close();
  expect(events.filter(({ type }) => type === "LinkExpired")).toHaveLength(LINKS);
  // Deliveries come at least once: those that come again have the same id.
  expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"])).size).toBe(LINKS);
});
