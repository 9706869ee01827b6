// The double as a server with TLS and users, and the script of the Compose file that makes the service's user there.
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
import { onTestFinished } from "vitest";
import { openEventStoreDb } from "../../../src/stores/event-store/eventstoredb/event-store.ts";
import { temporaryFolder } from "../runtime/temporary-folder.ts";
import { certificateFor, makeAuthority } from "../servers/test-certificates.ts";
import { startDouble } from "./eventstoredb-double/double.ts";

const SCRIPT = fileURLToPath(new URL("../../../deploy/eventstore/make-user.js", import.meta.url));
export const ADMIN_PASSWORD = "hush";
const BY_ADMIN = `Basic ${Buffer.from(`admin:${ADMIN_PASSWORD}`).toString("base64")}`;
export const SERVICE_PASSWORD = "sesame12";

/** As a real server has it: gRPC and the users' HTTP interface at one address. */
export async function securedServer(known: Record<string, string> = {}) {
  const folder = await temporaryFolder();
  const authority = makeAuthority();
  const tlsCAFile = join(folder.path, "ca.crt");
  await writeFile(tlsCAFile, authority.cert);
  const passwords: { admin: string; [user: string]: string } = { ...known, admin: ADMIN_PASSWORD };
  const double = await startDouble({ passwords });
  const users = createServer(async (request, response) => {
    const given = (await json(request)) as { loginName?: string; password?: string; newPassword?: string };
    const login = given.loginName ?? request.url?.split("/")[2] ?? "";
    if (request.headers.authorization !== BY_ADMIN) return void response.writeHead(401).end();
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
  const makeUser = (password = SERVICE_PASSWORD) =>
    promisify(execFile)(process.execPath, [SCRIPT], {
      env: {
        ...{ NODE_EXTRA_CA_CERTS: tlsCAFile, ADMIN_URL: urlOf("admin", ADMIN_PASSWORD) },
        SERVICE_PASSWORD: password,
      },
    });
  const open = async (url: string) => {
    const store = await openEventStoreDb(url, { timeoutMs: 2_000 });
    onTestFinished(() => store.close());
    return store;
  };
  return { double, urlOf, makeUser, open };
}
