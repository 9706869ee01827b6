// What a user of the event store without a right is told, and the user that deploy/eventstore/make-user.js makes.
import { describe, expect, it, onTestFinished } from "vitest";
import { Servers } from "../../src/stores/event-store/eventstoredb/connection.ts";
import { START } from "../../src/stores/event-store/port.ts";
import { startCluster } from "../support/cluster/cluster.ts";
import { onOwnServers } from "../support/cluster/own-servers.ts";
import { sampleEvents } from "../support/event-store/sample-events.ts";
import {
  ADMIN_PASSWORD,
  SERVICE_PASSWORD as PASSWORD,
  securedServer,
} from "../support/event-store/secured-double.ts";
import { officialClient } from "../support/servers/eventstoredb-server.ts";

const GRANT = 'setStreamMetadata("$all", { acl: { readRoles: ["$admins", "linkledger"] } })';
const DENIED = `The event store refuses the request: 7 PERMISSION_DENIED: Access Denied: the user "linkledger" may not read $all: an administrator grants it by ${GRANT}`;

describe("a user of the event store", () => {
  it("who may not read the log is told by what line an administrator grants it, whatever reads it", async () => {
    const { urlOf, open } = await securedServer({ linkledger: PASSWORD });
    const store = await open(urlOf("linkledger", PASSWORD));
    const categories = ["link"];
    const following = async () => {
      for await (const _ of store.subscribe({
        after: START,
        categories,
        signal: AbortSignal.timeout(5_000),
      }));
    };
    const asking: Promise<unknown>[] = [
      store.head(),
      store.readAll({ after: START, categories, limit: 1 }),
      store.readStored({ after: START, categories, limit: 1 }),
      following(),
    ];
    for (const outcome of await Promise.allSettled(asking))
      expect(outcome).toMatchObject({ reason: { code: "store_failed", message: DENIED } });
    await store.append("link-a", "none", sampleEvents(2));
    expect(await store.read("link-a")).toHaveLength(2);
  });

  it("who is not known, or not named, is told which", async () => {
    const { urlOf, open } = await securedServer({ linkledger: PASSWORD });
    const wrong = await open(urlOf("linkledger", "wrong"));
    await expect(wrong.head()).rejects.toThrow(
      /16 UNAUTHENTICATED.*: the server doesn't know the user "linkledger" of EVENTSTORE_URL by this password/,
    );
    const unnamed = await open(urlOf("linkledger", PASSWORD).replace(/\/\/.*@/, "//"));
    await expect(unnamed.head()).rejects.toThrow(/EVENTSTORE_URL names no user/);
  });

  it("is made by the script of the Compose file, again with another password, beside other readers and rights", async () => {
    const { double, urlOf, open, makeUser } = await securedServer({ other: "other's" });
    const administrator = officialClient(urlOf("admin", ADMIN_PASSWORD));
    const { credentials } = new Servers(urlOf("admin", ADMIN_PASSWORD));
    const acl = { readRoles: ["$admins", "other"] };
    await administrator.setStreamMetadata("$all", { acl }, { credentials });
    await administrator.dispose();
    await makeUser();
    await makeUser("another one");
    const [store, of] = [
      await open(urlOf("linkledger", "another%20one")),
      { categories: ["link"], limit: 1_000 },
    ];
    await store.append("link-a", "none", sampleEvents(2));
    const { events } = await store.readAll({ after: START, ...of });
    expect(events.filter(({ stream }) => stream === "link-a")).toHaveLength(2);
    expect(double.log.readers()).toEqual(["$admins", "other", "linkledger"]);
    const rights = double.log.stream("$settings") ?? [];
    expect(rights.map(({ type, data }) => [type, JSON.parse(String(data)).$userStreamAcl])).toEqual([
      ["update-default-acl", { $r: "$all", $w: "$all", $d: "$admins", $mr: "$all", $mw: "$admins" }],
    ]);
  });
});

onOwnServers(() =>
  it("a service that could never read its log is not ready, says why, and is once the right is granted", async () => {
    const { urlOf, makeUser } = await securedServer({ linkledger: PASSWORD });
    const cluster = await startCluster();
    onTestFinished(() => cluster.stop());
    const node = await cluster.start("api,redirect,projector", {
      EVENTSTORE_URL: urlOf("linkledger", PASSWORD),
      MONGODB_URL: cluster.mongodb.newDatabase(),
    });
    const { status, body } = await node.ask("/health/ready");
    expect([status, body]).toEqual([
      503,
      expect.objectContaining({
        reasons: expect.arrayContaining([{ part: "event store", reason: DENIED }]),
      }),
    ]);
    await makeUser();
    await node.ready();
  }),
);
