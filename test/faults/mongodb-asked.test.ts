// How often a quiet service asks MongoDB, and what it says when MongoDB refuses it its leases.
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Cluster, type RoleProcess, startCluster } from "../support/cluster/cluster.ts";
import { onOwnServers } from "../support/cluster/own-servers.ts";
import { effort } from "../support/runtime/effort.ts";
import { printCounts } from "../support/runtime/print-counts.ts";
import { startMongodb, type TestMongodb } from "../support/servers/mongodb-server.ts";
import { type MongodbTap, tapMongodb } from "../support/servers/mongodb-tap.ts";

const PATIENT_MS = 120_000;
const WATCHED_S = effort(4, 10);
const MOST_A_SECOND = 5;

onOwnServers(() => {
  describe("a service with all roles on servers", () => {
    let server: TestMongodb;
    let tap: MongodbTap;
    let cluster: Cluster;
    let service: RoleProcess;
    beforeAll(async () => {
      server = await startMongodb();
      tap = await tapMongodb(server.newDatabase());
      cluster = await startCluster({ MONGODB_URL: tap.url });
      service = await cluster.start("redirect,api,portal,projector,webhooks");
      await service.ready();
    }, PATIENT_MS);
    afterAll(async () => {
      await cluster?.stop();
      await tap?.close();
      await server?.stop();
    }, PATIENT_MS);

    it(
      "asks MongoDB a few times a second while nobody visits it",
      async () => {
        await cluster.member("developer");
        // Until what the member has brought about is done.
        await delay(5_000);
        tap.take();
        await delay(WATCHED_S * 1_000);
        const asked = tap.take();
        printCounts(`commands to MongoDB in ${WATCHED_S} quiet seconds`, Object.fromEntries(asked));
        const sum = [...asked.values()].reduce((before, times) => before + times, 0);
        expect(sum).toBeLessThanOrEqual(MOST_A_SECOND * WATCHED_S);
      },
      PATIENT_MS,
    );

    it(
      "is not ready after ten seconds without its leases, says why in one line, and goes on when it gets them",
      async () => {
        const before = service.printed().length;
        tap.refuse(/^update leases|^find leases/);
        const reason = expect.stringMatching(/without its lease ".*" for 1\d s: MongoDB refuses the service/);
        const reasons = async () =>
          (await service.ask<{ reasons: { part: string; reason: string }[] }>("/health/ready")).body.reasons;
        await expect.poll(reasons, { timeout: 60_000, interval: 200 }).toEqual(
          expect.arrayContaining([
            { part: "projector", reason },
            { part: "webhooks", reason },
          ]),
        );
        const lines = service.printed().slice(before).trim().split("\n");
        expect(lines.map((line) => JSON.parse(line).err?.message)).toEqual([
          "MongoDB refuses the service: not authorized",
        ]);
        expect(lines[0]).not.toContain('"stack"');
        tap.refuse(undefined);
        await service.ready();
      },
      PATIENT_MS,
    );
  });
});
