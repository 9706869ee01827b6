// Daily salts on Redis, shared by all processes of a service; the key expires when the day ends.
import type { RedisConnection } from "../../../stores/connections/redis.ts";
import type { DailySalts } from "./daily-salts.ts";

export function redisDailySalts(redis: RedisConnection): DailySalts {
  return {
    async agree({ name, endsAt }, offered) {
      const key = await redis.key(`visitor-salt:${name}`);
      const ttlMs = Math.max(1, endsAt - Date.now());
      return await redis.run(async (client) => {
        await client.set(key, offered, "PX", ttlMs, "NX");
        // Missing only if the day ended between the two commands.
        return (await client.get(key)) ?? offered;
      });
    },
    /** Nothing to do: keys expire by themselves. */
    async sweep() {},
  };
}
