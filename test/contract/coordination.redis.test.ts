// All contracts on Redis with one server, and its failures: unavailable, hanging and back again.
import { beforeAll, describe, expect, it } from "vitest";
import { redisDailySalts } from "../../src/redirect/clicks/visitors/daily-salts.redis.ts";
import { CoordinationUnavailable } from "../../src/stores/connections/errors.ts";
import { openRedis, type RedisConnection } from "../../src/stores/connections/redis.ts";
import { redisCounts } from "../../src/stores/counts/counts.redis.ts";
import { settlesWithoutWaiting } from "../support/runtime/settles-without-waiting.ts";
import { freePort } from "../support/servers/free-port.ts";
import { redis, redisIsOurs, startRedis, type TestRedis } from "../support/servers/redis-server.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { countsContract } from "./counts.ts";
import { dailySaltsContract } from "./daily-salts.ts";

onServer(redis, () => {
  let server: TestRedis;
  beforeAll(async () => {
    server = await startRedis();
    return () => server.stop();
  });

  const close = async () => undefined;
  const hide = (subject: string) => `hidden ${subject}`;
  const two = async () => [await server.connect(), await server.connect()] as const;

  countsContract("Redis", async () => {
    const [one, other] = await two();
    return { counts: redisCounts(one, hide), others: redisCounts(other, hide), close };
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
        prefix: async () => "linkledger:",
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
