// Redis behind a Unix socket, and behind a sentinel that moves it to another server.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { rateLimits } from "../../src/limits/rate-limit.ts";
import { openRedis, type RedisConnection } from "../../src/stores/connections/redis.ts";
import { redisCounts } from "../../src/stores/counts/counts.redis.ts";
import { ownCounts, withOwnCounts } from "../../src/stores/counts/own-counts.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { freePort } from "../support/servers/free-port.ts";
import { startSentinels } from "../support/servers/redis-sentinels.ts";
import { redisServer } from "../support/servers/redis-server.ts";
import { onServer, serverProcess } from "../support/servers/test-servers.ts";

const NOW = new Date("2026-03-01T10:20:30.000Z");

onServer(redisServer, () => {
  const hide = (subject: string) => `hidden ${subject}`;
  const connect = (url: string, log: (message: string) => void = () => undefined) =>
    openRedis(url, { prefix: async () => "linkledger-test:", log });
  const limitsIn = (connection: RedisConnection) => rateLimits(redisCounts(connection, hide));

  it("limits are counted by a Unix socket, in the database that the address names", async () => {
    const folder = await temporaryFolder();
    const [port, socket] = [await freePort(), join(folder.path, "redis.sock")];
    const address = ["--port", String(port), "--bind", "127.0.0.1", "--unixsocket", socket];
    const server = serverProcess(port, ["redis-server", ...address, "--save", "", "--appendonly", "no"]);
    await server.start();
    const [one, other] = [
      await connect(`unix://${socket}?db=1`),
      await connect(`redis://127.0.0.1:${port}/1`),
    ];
    try {
      expect(await limitsIn(one).take("key", 5, NOW)).toMatchObject({ granted: true, used: 1 });
      expect(await limitsIn(other).take("key", 5, NOW)).toMatchObject({ granted: true, used: 2 });
    } finally {
      await one.close();
      await other.close();
      await server.kill();
      await folder.remove();
    }
  });

  describe("behind a sentinel", () => {
    it("limits go on where they were after the primary has died", { timeout: 60_000 }, async () => {
      const servers = await startSentinels();
      const messages: string[] = [];
      const connection = await connect(servers.url, (message) => messages.push(message));
      try {
        await expect.poll(() => connection.unavailable, { timeout: 10_000 }).toBe(false);
        const shared = limitsIn(connection);
        const limits = rateLimits(withOwnCounts(redisCounts(connection, hide), ownCounts()));
        expect(await shared.take("key", 5, NOW)).toMatchObject({ used: 1 });
        // The replica has it, and the sentinel knows the replica.
        await expect.poll(() => connection.run((client) => client.wait(1, 100)), { timeout: 20_000 }).toBe(1);
        await expect.poll(() => servers.replicas(), { timeout: 20_000 }).toBe(1);
        await servers.primary.kill();
        await expect.poll(() => connection.unavailable).toBe(true);
        expect(await limits.take("other", 5, NOW)).toMatchObject({ granted: true, used: 1 });
        await expect.poll(() => connection.unavailable, { timeout: 30_000 }).toBe(false);
        expect(await shared.take("key", 5, NOW)).toMatchObject({ used: 2 });
        expect(messages.filter((message) => message === "Redis is back")).toHaveLength(1);
      } finally {
        await connection.close();
        await servers.stop();
      }
    });
  });
});
