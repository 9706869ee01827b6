// What a user of the event store without a right is told, and the user that deploy/eventstore/make-user.js makes.
import { execFile } from "node:child_process";
import { once } from "node:events";
import { writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import { type AddressInfo, connect } from "node:net";
import { join } from "node:path";
import { json } from "node:stream/consumers";
import { createServer as createTlsServer } from "node:tls";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it, onTestFinished } from "vitest";
import { openEventStoreDb } from "../../src/stores/event-store/eventstoredb/event-store.ts";
import { START } from "../../src/stores/event-store/port.ts";
import { startCluster } from "../support/cluster/cluster.ts";
import { onOwnServers } from "../support/cluster/own-servers.ts";
import { startDouble } from "../support/event-store/eventstoredb-double/double.ts";
import { sampleEvents } from "../support/event-store/sample-events.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { certificateFor, makeAuthority } from "../support/servers/test-certificates.ts";

const SCRIPT = fileURLToPath(new URL("../../deploy/eventstore/make-user.js", import.meta.url));
const ADMIN = "hush";
const PASSWORD = "sesame12";
const GRANT = 'setStreamMetadata("$all", { acl: { readRoles: ["$admins", "linkledger"] } })';
const DENIED = `The event store refuses the request: 7 PERMISSION_DENIED: Access Denied: the user "linkledger" may not read $all: an administrator grants it by ${GRANT}`;

/** As a real server has it: gRPC and the users' HTTP interface at one address. */
async function securedServer(known: Record<string, string> = {}) {
  const folder = await temporaryFolder();
  const authority = makeAuthority();
  const tlsCAFile = join(folder.path, "ca.crt");
  await writeFile(tlsCAFile, authority.cert);
  const passwords: { admin: string; [user: string]: string } = { ...known, admin: ADMIN };
  const double = await startDouble({ passwords });
  const users = createServer(async (request, response) => {
    const given = (await json(request)) as { loginName?: string; password?: string; newPassword?: string };
    const login = given.loginName ?? request.url?.split("/")[2] ?? "";
    const isThere = given.loginName !== undefined && login in passwords;
    if (!isThere) passwords[login] = given.password ?? given.newPassword ?? "";
    response.writeHead(isThere ? 409 : 201).end();
  });
  const front = createTlsServer(
    { ...certificateFor(authority, ["localhost"]), ALPNProtocols: ["h2", "http/1.1"] },
    (socket) => {
      socket.on("error", () => undefined);
      if (socket.alpnProtocol !== "h2") return void users.emit("connection", socket);
      const onward = connect(double.wire.port, "127.0.0.1");
      onward.on("error", () => socket.destroy());
      socket.on("close", () => onward.destroy());
      socket.pipe(onward).pipe(socket);
    },
  );
  front.listen(0, "127.0.0.1");
  await once(front, "listening");
  const { port } = front.address() as AddressInfo;
  const urlOf = (user: string, password: string) =>
    `esdb://${user}:${password}@localhost:${port}?tls=true&tlsCAFile=${encodeURIComponent(tlsCAFile)}`;
  onTestFinished(async () => {
    await double.close();
    front.close();
    await folder.remove();
  });
  const makeUser = () =>
    promisify(execFile)(process.execPath, [SCRIPT], {
      env: {
        ...{ NODE_EXTRA_CA_CERTS: tlsCAFile, ADMIN_URL: urlOf("admin", ADMIN) },
        SERVICE_PASSWORD: PASSWORD,
      },
    });
  const open = async (url: string) => {
    const store = await openEventStoreDb(url, { timeoutMs: 2_000 });
    onTestFinished(() => store.close());
    return store;
  };
  return { double, urlOf, makeUser, open };
}

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

  it("is made by the script of the Compose file, which can be run again, with another password", async () => {
    const { urlOf, open, makeUser } = await securedServer();
    for (let time = 0; time < 2; time++) await makeUser();
    const store = await open(urlOf("linkledger", PASSWORD));
    await store.append("link-a", "none", sampleEvents(2));
    const { events } = await store.readAll({ after: START, categories: ["link"], limit: 1_000 });
    expect(events.filter(({ stream }) => stream === "link-a")).toHaveLength(2);
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
