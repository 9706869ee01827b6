// Counts of visits in Redis, shared by all processes: one atomic script per visit.
import type { RedisConnection } from "../../stores/connections/redis.ts";
import { KEPT_MS, type VisitCounter } from "./visit-counter.ts";

const COUNT = `
  local known = redis.call('GET', KEYS[1])
  local atLeast = tonumber(ARGV[3])
  if not known and not atLeast then return -1 end
  local count = math.max(tonumber(known or '0'), atLeast or 0)
  local isBelow = count < tonumber(ARGV[1])
  local add = tonumber(ARGV[2])
  local after = count
  if isBelow or add < 0 then after = math.max(0, count + add) end
  if not known or after ~= tonumber(known) then redis.call('SET', KEYS[1], after, 'PX', ARGV[4]) end
  return isBelow and 1 or 0`;
const ANSWERS = new Map<unknown, boolean>([
  [1, true],
  [0, false],
]);

export function redisVisitCounter(redis: RedisConnection, keptMs = KEPT_MS): VisitCounter {
  const count = redis.script("countVisit", 1, COUNT);
  return {
    async count(link, most, { add, atLeast = "" }) {
      return ANSWERS.get(await count(redis.key(`visits:${link}`), most, add, atLeast, keptMs));
    },
  };
}
