// The leases contract on MongoDB or a compatible server.
import { Db } from "mongodb";
import { describe, expect, it, vi } from "vitest";
import { MongodbConnection } from "../../src/stores/connections/mongodb.ts";
import { mongodbLeases } from "../../src/stores/coordination/leases.mongodb.ts";
import { mongodb, mongodbOfSuite } from "../support/servers/mongodb-server.ts";
import { tapMongodb } from "../support/servers/mongodb-tap.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { leasesContract } from "./leases.ts";

const now = () => performance.now();

onServer(mongodb, () => {
  const server = mongodbOfSuite();

  leasesContract("MongoDB", async () => {
    const url = server.newDatabase();
    const [one, other] = [new MongodbConnection(url), new MongodbConnection(url)];
    return {
      leases: mongodbLeases(one, now),
      others: mongodbLeases(other, now),
      close: async () => void (await Promise.all([one.close(), other.close()])),
    };
  });

  describe("leases on MongoDB", () => {
    it("have one holder, however many raced for an expired lease", async () => {
      const connection = new MongodbConnection(server.newDatabase());
      const leases = mongodbLeases(connection, now);
      await leases.hold("work", "crashed", 1);
      const standbys = Array.from({ length: 20 }, (_, n) => `standby ${n}`);
      let winners: string[] = [];
      const someWon = async () => {
        const held = await Promise.all(standbys.map((holder) => leases.hold("work", holder, 60_000)));
        winners = standbys.filter((_, n) => held[n]);
        return winners.length > 0;
      };
      await expect.poll(someWon).toBe(true);
      expect(winners).toHaveLength(1);
      await connection.close();
    });

    it("cost no command each where a process has some of them, and another one the others", async () => {
      const tap = await tapMongodb(server.newDatabase());
      const connection = new MongodbConnection(tap.url);
      const leases = mongodbLeases(connection, now);
      const hold = (holder: string, names: readonly string[]) =>
        Promise.all(names.map((name) => leases.hold(name, holder, 60_000)));
      await hold("other", ["theirs"]);
      await hold("one", ["a", "b", "c", "d"]);
      tap.take();
      expect(await hold("one", ["a", "b", "theirs", "c", "d"])).toEqual([true, true, false, true, true]);
      expect([...tap.take().values()].reduce((sum, times) => sum + times, 0)).toBeLessThanOrEqual(2);
      await connection.close();
      await tap.close();
    });

    it("are held and expire also where the server's greeting has no time", async () => {
      vi.spyOn(Db.prototype, "command").mockResolvedValue({ ok: 1 });
      const connection = new MongodbConnection(server.newDatabase());
      const leases = mongodbLeases(connection, now);
      expect(await leases.hold("work", "one", 60_000)).toBe(true);
      expect(await leases.hold("work", "other", 60_000)).toBe(false);
      await leases.hold("work", "one", 1);
      await expect.poll(() => leases.hold("work", "other", 60_000)).toBe(true);
      await connection.close();
    });
  });
});
