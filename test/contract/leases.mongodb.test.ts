// The leases contract on MongoDB or a compatible server, and the races that only a shared document can lose.
import { beforeAll, describe, expect, it } from "vitest";
import { mongodbLeases } from "../../src/coordination/leases.mongodb.ts";
import { MongodbConnection } from "../../src/mongodb/connection.ts";
import { mongodb, startMongodb, type TestMongodb } from "../support/mongodb-server.ts";
import { onServer } from "../support/test-servers.ts";
import { leasesContract } from "./leases.ts";

const TTL_MS = 3_000;

onServer(mongodb, () => {
  let server: TestMongodb;
  beforeAll(async () => {
    server = await startMongodb();
    return () => server.stop();
  });

  leasesContract("MongoDB", async () => {
    const url = server.newDatabase();
    const [one, other] = [new MongodbConnection(url), new MongodbConnection(url)];
    const clock = () => performance.now();
    return {
      leases: mongodbLeases(one, clock),
      others: mongodbLeases(other, clock),
      close: async () => void (await Promise.all([one.close(), other.close()])),
    };
  });

  describe("leases on MongoDB", () => {
    it("end when their holder has been silent, whatever the machines' clocks say, for exactly one of twenty", async () => {
      const connection = new MongodbConnection(server.newDatabase());
      const start = 1_000_000;
      let now = start;
      const holder = mongodbLeases(connection, () => 5);
      const standbys = Array.from({ length: 20 }, () => mongodbLeases(connection, () => now));
      const ask = async () => {
        const asked = standbys.map((standby, n) => standby.acquire("work", `standby ${n}`, TTL_MS));
        return (await Promise.all(asked)).filter((lease) => lease !== undefined);
      };
      const first = await holder.acquire("work", "holder", TTL_MS);
      expect(await ask()).toEqual([]);
      now = start + TTL_MS - 1;
      expect(await holder.renew(first as never, TTL_MS)).toBe(true);
      expect(await ask()).toEqual([]);
      now += TTL_MS - 1;
      expect(await ask()).toEqual([]);
      now += 1;
      const [next, ...more] = await ask();
      expect(more).toEqual([]);
      expect(next?.token).toBeGreaterThan(first?.token ?? 0);
      expect(await holder.renew(first as never, TTL_MS)).toBe(false);
      await connection.close();
    });
  });
});
