// The day's salt on Redis, for all processes of a service: the server forgets it when the day ends.
import type { RedisConnection } from "../../../connections/redis.ts";
import type { DailySalts } from "./daily-salts.ts";

export function redisDailySalts(redis: RedisConnection, clock: () => Date = () => new Date()): DailySalts {
  return {
    async agree({ name, endsAt }, offered) {
      const key = redis.key(`visitor-salt:${name}`);
      const leftMs = Math.max(1, endsAt - clock().getTime());
      return await redis.run(async (client) => {
        await client.set(key, offered, "PX", leftMs, "NX");
        // Gone again only if the day has ended in between.
        return (await client.get(key)) ?? offered;
      });
    },
    /** Redis does it by itself. */
    async sweep() {},
  };
}
