// Run by Node as an administrator of KurrentDB or EventStoreDB: makes the service's own user, lets it read the log ($all),
// and keeps deleting and cutting streams to administrators, where nobody has set default rights; safe to repeat.
// ADMIN_URL='esdb://admin:password@a:2113,b:2113?tls=true&tlsCAFile=ca.crt' NODE_EXTRA_CA_CERTS=ca.crt \
//   SERVICE_USER=linkledger SERVICE_PASSWORD=secret node deploy/eventstore/make-user.js
import { setTimeout as pause } from "node:timers/promises";
import { EventStoreDBClient, jsonEvent, NO_STREAM, WrongExpectedVersionError } from "@eventstore/db-client";

/** A cluster that has just started has no leader yet. */
const ATTEMPTS = 30;
const PAUSE_MS = 2_000;

const { ADMIN_URL = "", SERVICE_USER = "linkledger", SERVICE_PASSWORD = "" } = process.env;
const [, admin = "", secret = "", hosts] =
  /^(?:esdb|kurrentdb)(?:\+discover)?:\/\/([^:/?]+):([^@]*)@([^/?]+)\/?(?:\?.*)?$/.exec(ADMIN_URL) ?? [];
if (!hosts || SERVICE_PASSWORD === "") {
  process.stderr.write("Set ADMIN_URL, such as esdb://admin:PASSWORD@host:2113, and SERVICE_PASSWORD\n");
  process.exit(1);
}
const credentials = { username: decodeURIComponent(admin), password: decodeURIComponent(secret) };
const login = Buffer.from(`${credentials.username}:${credentials.password}`).toString("base64");
const headers = { authorization: `Basic ${login}`, "content-type": "application/json" };

/** The status of the node that takes it: one that doesn't lead, or is away, refuses. */
async function post(path, body) {
  const refusals = [];
  for (const host of hosts.split(",")) {
    const request = { method: "POST", headers, body: JSON.stringify(body), signal: AbortSignal.timeout(10_000) };
    try {
      const { ok, status } = await fetch(`https://${host}${path}`, request);
      if (ok || status === 409) return status;
      refusals.push(`${host} ${status}`);
    } catch (error) {
      refusals.push(`${host} ${error.cause?.message ?? error.message}`);
    }
  }
  throw new Error(`POST ${path} is refused: ${refusals.join(", ")}`);
}

async function makeUser() {
  const user = { loginName: SERVICE_USER, fullName: "Linkledger", groups: [], password: SERVICE_PASSWORD };
  if ((await post("/users/", user)) !== 409) return;
  const newPassword = { newPassword: SERVICE_PASSWORD };
  await post(`/users/${encodeURIComponent(SERVICE_USER)}/command/reset-password`, newPassword);
}

/** Beside whoever may read it already. */
async function letItRead(client) {
  const { metadata = {} } = await client.getStreamMetadata("$all", { credentials });
  const readers = [metadata.acl?.readRoles ?? "$admins"].flat();
  if (readers.includes(SERVICE_USER)) return;
  const acl = { ...metadata.acl, readRoles: [...readers, SERVICE_USER] };
  await client.setStreamMetadata("$all", { ...metadata, acl }, { credentials });
}

async function setDefaultRights(client) {
  const administrators = { $r: "$admins", $w: "$admins", $d: "$admins", $mr: "$admins", $mw: "$admins" };
  const users = { $r: "$all", $w: "$all", $d: "$admins", $mr: "$all", $mw: "$admins" };
  const data = { $userStreamAcl: users, $systemStreamAcl: administrators };
  const event = jsonEvent({ type: "update-default-acl", data });
  try {
    await client.appendToStream("$settings", event, { credentials, expectedRevision: NO_STREAM });
  } catch (error) {
    // Somebody's, or this program's of an earlier time.
    if (!(error instanceof WrongExpectedVersionError)) throw error;
  }
}

for (let attempt = 1; ; attempt += 1) {
  const client = EventStoreDBClient.connectionString(ADMIN_URL.replace(/^kurrentdb/, "esdb"));
  try {
    await makeUser();
    await letItRead(client);
    await setDefaultRights(client);
    process.stdout.write(`The user ${SERVICE_USER} may read the log, and read and write streams\n`);
    break;
  } catch (error) {
    if (attempt === ATTEMPTS) throw error;
    process.stderr.write(`${error.message}; trying again\n`);
    await pause(PAUSE_MS);
  } finally {
    await client.dispose();
  }
}
