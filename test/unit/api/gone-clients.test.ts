// What a client no longer waits for ends, and a client that waits on gets its answer.
import { once } from "node:events";
import { createServer, request as sendRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it } from "vitest";
import { accountAnalyticsRoutes } from "../../../src/api/analytics/account-routes.ts";
import { createFastify } from "../../../src/api/create-fastify.ts";
import { requestIds } from "../../../src/api/request-id.ts";
import { openExports } from "../../../src/limits/exports.ts";
import { createLogger } from "../../../src/runtime/logging.ts";
import { ownCounts } from "../../../src/stores/counts/own-counts.ts";
import { openCommandDeps } from "../../support/commands/command-deps.ts";
import { ACCOUNT } from "../../support/event-store/stored-events.ts";
import { until } from "../../support/runtime/until.ts";

const CLIENTS = 8;

it("ends the questions of clients that have left, and no other", async () => {
  const { deps, close } = await openCommandDeps();
  const logged: string[] = [];
  const log = createLogger("info", { write: (line: string) => void logged.push(line) });
  const asked: AbortSignal[] = [];
  const asking = Promise.withResolvers<{ clicks: []; next: null }>();
  const clickPage = async (_question: unknown, _place: unknown, _limit: number, signal: AbortSignal) => {
    asked.push(signal);
    const gone = once(signal, "abort").then(() => Promise.reject(signal.reason));
    return await Promise.race([asking.promise, gone]);
  };
  const app = createFastify({ log, requestIdOf: requestIds("r"), trust: false, showWindow: undefined });
  app.addHook("onRequest", async (request) => {
    request.caller = { accountId: ACCOUNT, tier: "developer", via: "api", keyId: "key" };
  });
  const never = () => Promise.reject(new Error("not asked here"));
  accountAnalyticsRoutes(app, {
    ...{ ...deps, exports: openExports({ ...deps, counts: ownCounts() }) },
    logReader: { clickPage, askAccount: never, clickFile: never as never },
  });
  await app.ready();
  const server = createServer((request, response) => app.routing(request, response)).listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const clients = Array.from({ length: CLIENTS + 1 }, () =>
    sendRequest({ host: "127.0.0.1", port, path: "/api/v1/clicks", agent: false }).end(),
  );
  const [staying, ...leaving] = clients;
  const answered = once(staying as (typeof clients)[number], "response");
  await until("all questions to be asked", () => asked.length === clients.length);
  expect(asked.map(({ aborted }) => aborted)).toEqual(clients.map(() => false));
  for (const client of leaving) client.on("error", () => undefined).destroy();
  await until(
    "those of the clients that left to end",
    () => asked.filter(({ aborted }) => aborted).length === CLIENTS,
  );
  asking.resolve({ clicks: [], next: null });
  const [response] = await answered;
  expect(response.statusCode).toBe(200);
  expect(asked.filter(({ aborted }) => aborted)).toHaveLength(CLIENTS);
  expect(logged.filter((line) => line.includes("failed"))).toEqual([]);
  server.close();
  await app.close();
  await close();
});
