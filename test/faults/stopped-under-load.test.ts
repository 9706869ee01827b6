// A service that is stopped while visitors keep their connections: each reads a real answer as its last, and is counted.

import { Agent, type IncomingMessage, request } from "node:http";
import { expect, it } from "vitest";
import { openSqliteEventStore } from "../../src/stores/event-store/sqlite/event-store.ts";
import { loggedEvents } from "../support/event-store/logged-events.ts";
import { until } from "../support/runtime/until.ts";
import { instanceOfSuite } from "../support/service/instance-of-suite.ts";
import { accountWithKeys, startService } from "../support/service/service-process.ts";

const VISITORS = 40;

const instance = instanceOfSuite();

it("answers the last request of each connection with its redirect and `connection: close`", async () => {
  const { keys } = await accountWithKeys(instance, "developer", 1);
  const service = await startService(instance);
  const slug = await service.shorten(keys[0]);
  const last: Answer[] = [];
  let answered = 0;
  const visit = async () => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    for (let isOpen = true; isOpen; ) {
      const answer = await get(agent, `${service.url}/${slug}`);
      answered += answer.status === 301 ? 1 : 0;
      isOpen = answer.connection !== "close";
      if (!isOpen) last.push(answer);
    }
    agent.destroy();
  };
  const visitors = Array.from({ length: VISITORS }, visit);
  await until("every visitor to be answered often", () => answered > VISITORS * 5);
  const began = performance.now();
  await Promise.all([service.stop("SIGTERM"), ...visitors]);
  expect(last).toEqual(Array(VISITORS).fill({ status: 301, connection: "close" }));
  expect(performance.now() - began).toBeLessThan(4_000);
  const store = await openSqliteEventStore(`${instance.DATA_DIR}/events.db`);
  const clicks = await loggedEvents(store, { categories: ["clicks"], limit: 100_000 });
  await store.close();
  expect(clicks).toHaveLength(answered);
});

type Answer = { status: number | undefined; connection: string | undefined };

function get(agent: Agent, url: string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const asking = request(url, { agent }, (response: IncomingMessage) => {
      const { statusCode: status, headers } = response;
      response.resume().on("end", () => resolve({ status, connection: headers.connection }));
    });
    asking.on("error", reject).end();
  });
}
