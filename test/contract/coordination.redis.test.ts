// All contracts on Redis with one server, and its failures: unavailable, hanging and back again.
import { beforeAll, describe, expect, it } from "vitest";
import { redisRateLimits } from "../../src/api/limits/rate-limit.redis.ts";
import { CoordinationUnavailable } from "../../src/connections/errors.ts";
import { openRedis, type RedisConnection } from "../../src/connections/redis.ts";
import { memoryLeases } from "../../src/coordination/leases.memory.ts";
import { redisLeases } from "../../src/coordination/leases.redis.ts";
import type { Leases } from "../../src/coordination/leases.ts";
import { withOwnLeases } from "../../src/coordination/leases-fallback.ts";
import { redisDailySalts } from "../../src/redirect/clicks/visitors/daily-salts.redis.ts";
import { settlesWithoutWaiting } from "../support/runtime/settles-without-waiting.ts";
import { freePort } from "../support/servers/free-port.ts";
import { redis, redisIsOurs, startRedis, type TestRedis } from "../support/servers/redis-server.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { dailySaltsContract } from "./daily-salts.ts";
import { leasesContract } from "./leases.ts";
import { rateLimitsContract } from "./rate-limit.ts";

onServer(redis, () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
    return () => server.stop();
  });

  const close = async () => undefined;
  const hide = (subject: string) => `hidden ${subject}`;
  const orOwn = (connection: RedisConnection) =>
    withOwnLeases(
      redisLeases(connection),
      memoryLeases(() => performance.now()),
    );
  const two = async () => [await server.connect(), await server.connect()] as const;

  rateLimitsContract("Redis", async () => {
    const [one, other] = await two();
    return { limits: redisRateLimits(one, hide), others: redisRateLimits(other, hide), close };
  });
  leasesContract("Redis", async () => {
    const [one, other] = await two();
    return { leases: redisLeases(one), others: redisLeases(other), close };
  });
  leasesContract("Redis, else this process", async () => {
    const [one, other] = await two();
    return { leases: orOwn(one), others: orOwn(other), close };
  });
  dailySaltsContract("Redis", async () => {
    const [one, other] = await two();
    const stored = () =>
      one.run(async (client) => {
        const keys = await client.keys(`${server.prefix}visitor-salt:*`);
        return (await Promise.all(keys.map((key) => client.get(key)))).join("\n");
      });
    return { salts: redisDailySalts(one), others: redisDailySalts(other), stored };
  });

  describe.skipIf(!redisIsOurs)("leases on Redis while it is unavailable", () => {
    const TTL_MS = 1_000;

    it("stay with their holder, and pass to another process when they must have ended", async () => {
      const [one, other] = (await two()).map(orOwn) as [Leases, Leases];
      expect(await one.hold("job", "one", TTL_MS)).toBe(true);
      expect(await other.hold("job", "other", TTL_MS)).toBe(false);
      await server.process?.kill();
      expect(await other.hold("job", "other", TTL_MS)).toBe(false);
      expect(await one.hold("job", "one", TTL_MS)).toBe(true);
      await expect.poll(() => other.hold("job", "other", TTL_MS), { timeout: 10_000 }).toBe(true);
      await server.process?.start();
    });

    it("are one holder's again when Redis is back", async () => {
      const connections = await two();
      const [one, other] = connections.map(orOwn) as [Leases, Leases];
      await server.process?.kill();
      const both = async () => [
        await one.hold("later", "one", TTL_MS),
        await other.hold("later", "other", TTL_MS),
      ];
      expect(await both()).toEqual([true, true]);
      await server.process?.start();
      await expect.poll(() => connections.some(({ unavailable }) => unavailable)).toBe(false);
      expect(await both()).toEqual([true, false]);
    });
  });

  describe.skipIf(!redisIsOurs)("a connection to Redis", () => {
    const ping = (connection: RedisConnection) => connection.run((client) => client.ping());
    const expectRefusedAtOnce = async (connection: RedisConnection) => {
      const refused = ping(connection);
      expect(await settlesWithoutWaiting(refused)).toBe(true);
      await expect(refused).rejects.toThrow(CoordinationUnavailable);
    };

    it("opens while Redis is unavailable, and reports that", async () => {
      const messages: string[] = [];
      const url = `redis://127.0.0.1:${await freePort()}`;
      const connection = await openRedis(url, {
        log: (message) => messages.push(message),
        prefix: "linkledger:",
      });
      expect(connection.unavailable).toBe(true);
      await expect(ping(connection)).rejects.toThrow(CoordinationUnavailable);
      expect(messages).toHaveLength(1);
      await connection.close();
    });

    it("fails fast while Redis is unavailable, and reconnects by itself", async () => {
      const connection = await server.connect();
      await server.process?.kill();
      await expect.poll(() => connection.unavailable).toBe(true);
      for (let n = 0; n < 100; n++) await expectRefusedAtOnce(connection);
      await server.process?.start();
      await expect.poll(() => connection.unavailable).toBe(false);
      expect(await ping(connection)).toBe("PONG");
    });

    it.each([
      "READONLY You can't write against a read only replica.",
      // Of a script before Redis 7.
      "ERR Error running script (call to f_1): @user_script:5: -READONLY You can't write against a read only replica.",
    ])("connects anew when the primary has become a replica: %s", async (refusal) => {
      const connection = await server.connect();
      const id = () => connection.run((client) => client.client("ID"));
      const before = await id();
      const write = connection.run((client) => client.eval("return redis.error_reply(ARGV[1])", 0, refusal));
      await expect(write).rejects.toThrow(CoordinationUnavailable);
      await expect.poll(() => id().catch(() => before)).not.toBe(before);
    });
  });
});
