// REDIS_URL on the embedded stores, where Redis has the leases: without it everything goes on, each process for itself.
import { afterAll, beforeAll, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { until } from "../support/runtime/until.ts";
import { freePort } from "../support/servers/free-port.ts";
import { send } from "../support/service/ask.ts";
import {
  accountWithKeys,
  type Environment,
  instanceOf,
  type ServiceProcess,
  startService,
} from "../support/service/service-process.ts";

let folder: TemporaryFolder;
let instance: Environment;
let service: ServiceProcess | undefined;
beforeAll(async () => {
  folder = await temporaryFolder();
  instance = await instanceOf(folder.path, { SECRET_KEY: "a secret key for a service with a Redis" });
});
afterAll(async () => {
  await service?.stop("SIGKILL");
  await folder.remove();
});

it("starts, is ready and counts clicks while the Redis that has its leases is unavailable", async () => {
  const { keys } = await accountWithKeys(instance, "developer", 1);
  service = await startService({ ...instance, REDIS_URL: `redis://127.0.0.1:${await freePort()}` });
  const port = Number(instance.PORT);
  const key = keys[0] ?? "";
  const created = await send<{ slug: string }>(port, "/api/v1/shorten", {
    method: "POST",
    key,
    body: { url: "https://example.com/" },
  });
  const { slug } = created.body;
  expect((await send(port, `/${slug}`, {})).status).toBe(301);
  type Analytics = { analytics: { totalClicks: number } };
  const isCounted = async () => {
    const { body } = await send<Analytics>(port, `/api/v1/analytics/${slug}`, { key });
    return body.analytics.totalClicks === 1;
  };
  // Within the limit of requests.
  await until("the click to be counted", isCounted, { everyMs: 250 });
  const ready = await send<{ degraded: { part: string }[] }>(port, "/health/ready", {});
  expect([ready.status, ready.body.degraded.map(({ part }) => part)]).toEqual([200, ["redis"]]);
}, 240_000);
