// A log that can be read and not written, as on a full disk: the service goes on with what it can, and says so.
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, expect, it } from "vitest";
import { stretched } from "../support/runtime/slowness.ts";
import { startTestService, type TestService } from "../support/service/start-service.ts";

let service: TestService;
let log: DatabaseSync;
beforeAll(async () => {
  service = await startTestService();
  log = new DatabaseSync(join(service.config.dataDir, "events.db"));
});
afterAll(async () => {
  log.close();
  await service.stop();
});

/** SQLite's own error for every insert, in the words of a full disk. */
function fill(): void {
  for (const { name } of log
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
    .all())
    log.exec(
      `CREATE TRIGGER "full ${name}" BEFORE INSERT ON "${name}" BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`,
    );
}

function free(): void {
  for (const { name } of log.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").all())
    log.exec(`DROP TRIGGER "${name}"`);
}

it("is degraded within two seconds of the first click that can't be written, until one is", async () => {
  const { key } = await service.member("developer");
  const url = "https://example.com/";
  const shorten = (path = "", body: object = { url }) => service.post(`/api/v1/shorten${path}`, key, body);
  const { slug } = (await shorten()).body;
  const health = () => service.ask<{ status: string; degraded?: object[] }>("/health/ready");
  const redirect = async () => (await service.ask(`/${slug}`)).status;
  expect(await redirect()).toBe(301);
  await expect.poll(async () => (await health()).body.status).toBe("ready");

  fill();
  expect(await redirect()).toBe(301);
  await expect.poll(async () => (await health()).body.status, { timeout: stretched(2_000) }).toBe("degraded");
  const { status, body } = await health();
  expect(status).toBe(200);
  expect(body.degraded).toContainEqual({
    part: "event store",
    reason: expect.stringMatching(/^can't be written: the disk is full \(SQLITE_FULL\): free some space/),
  });
  expect((await shorten()).status).toBe(503);
  expect((await shorten("/bulk", { links: [{ url }, { url }] })).status).toBe(503);
  expect(await redirect()).toBe(301);
  expect((await service.ask("/metrics")).text).toMatch(/^linkledger_event_store_write_failing 1$/m);

  free();
  await expect.poll(async () => (await health()).body.status, { timeout: 5_000 }).toBe("ready");
  expect((await shorten()).status).toBe(201);
  expect((await service.ask("/metrics")).text).toMatch(/^linkledger_event_store_write_failing 0$/m);
  const lines = service.logged.filter((line) => line.includes("The log can't be written"));
  expect(lines).toHaveLength(1);
});
