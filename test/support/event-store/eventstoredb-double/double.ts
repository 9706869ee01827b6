// A server that speaks EventStoreDB's wire protocol over a log in memory, to make the client's failures happen.
import { setTimeout as sleep } from "node:timers/promises";
import { type Metadata, Server, ServerCredentials, type StatusObject } from "@grpc/grpc-js";
import { messageOf } from "../../../../src/runtime/errors.ts";
import type { EventStore } from "../../../../src/stores/event-store/port.ts";
import type { ServerCertificate } from "../../servers/test-certificates.ts";
import { appendCall, deleteCall } from "./append.ts";
import { type Answer, type Misbehave, Script, statusOf } from "./faults.ts";
import { DoubleLog, storeOf } from "./log.ts";
import { SERVER_FEATURES, STREAMS, type Success } from "./protocol.ts";
import { type Look, readCall } from "./read.ts";
import { loginOf } from "./users.ts";
import { Wire } from "./wire.ts";

export type Member = { port: number; state: "Leader" | "Follower" };

export type EventStoreDbDouble = {
  /** Through the wire, so that connections can be cut and refused. */
  connectionString: string;
  /** The cluster's nodes as it knows them; itself alone until a test changes them. */
  members: Member[];
  script: Script;
  wire: Wire;
  /** The events behind it, without the wire. */
  store: EventStore;
  log: DoubleLog;
  /** Every read of the log that it served or is serving. */
  looks: readonly Look[];
  close(): Promise<void>;
};

/** The server version that it answers. */
const DOUBLE_VERSION = "26.0.0";

/** Of a double that wants a user's password, by TLS unless something in front of it does that; `admin` alone is an administrator. */
export type Secured = {
  certificate?: ServerCertificate;
  passwords: { admin: string; [user: string]: string };
};

export async function startDouble(secured?: Secured): Promise<EventStoreDbDouble> {
  const log = new DoubleLog();
  const store = storeOf(log);
  const script = new Script();
  const looks: Look[] = [];
  const server = new Server({ "grpc.max_receive_message_length": 17 * 1024 * 1024 });
  const listening = await listen(server, secured?.certificate);
  const wire = new Wire(listening);
  const misbehave = misbehaving(script, () => wire.cut());
  await wire.open();
  const members: Member[] = [{ port: wire.port, state: "Leader" }];
  const atLeader = refusedElsewhere(members, wire.port, secured?.passwords);
  const mayReadLog = (user: string) => !secured || user === "admin" || log.readers().includes(user);
  server.addService(STREAMS, {
    append: atLeader(appendCall(log, misbehave)),
    delete: atLeader(deleteCall((stream) => log.delete(stream))),
    tombstone: atLeader(deleteCall((stream) => log.tombstone(stream))),
    read: atLeader(readCall({ log, looks, script, misbehave, mayReadLog, cut: () => wire.cut() })),
  });
  server.addService(SERVER_FEATURES, { getSupportedMethods });
  return {
    connectionString: secured
      ? `esdb://admin:${encodeURIComponent(secured.passwords.admin)}@localhost:${wire.port}?tls=true`
      : `esdb://127.0.0.1:${wire.port}?tls=false`,
    members,
    script,
    wire,
    store,
    log,
    looks,
    close: async () => {
      await wire.close();
      server.forceShutdown();
    },
  };
}

function misbehaving(script: Script, cut: () => void): Misbehave {
  return async (call, work, answer) => {
    const fault = script.take(call);
    try {
      if (fault?.kind === "status") return answer(statusOf(fault));
      if (fault?.kind === "late") await sleep(fault.ms);
      if (fault?.kind === "held") await fault.until;
      if ((fault?.kind === "silent" || fault?.kind === "drop") && fault.commit) await work();
      if (fault?.kind === "drop") cut();
      if (fault?.kind === "silent" || fault?.kind === "drop") return;
      const value = await work();
      if (fault?.kind === "placeless") forgetPosition(value);
      answer(null, value);
    } catch (error) {
      const invalid = error instanceof RangeError;
      answer({ code: invalid ? 3 : 13, details: messageOf(error) });
    }
  };
}

type Refuse = (error: Partial<StatusObject>) => void;
type LeaderCall = { metadata: Metadata; emit(event: "error", error: Partial<StatusObject>): unknown };

/** Serves a call that requires the leader only where that is this node, as the real server does. */
function refusedElsewhere(members: readonly Member[], port: number, passwords?: Record<string, string>) {
  return <C extends LeaderCall, A extends Refuse>(serve: (call: C, answer: A) => unknown) =>
    (call: C, answer?: A): void => {
      const leader = members.find(({ state }) => state === "Leader");
      const refuse: Refuse = answer ?? ((error) => void call.emit("error", error));
      const { user, password } = loginOf(call.metadata);
      const isStranger = passwords !== undefined && (password === "" || passwords[user] !== password);
      const isElsewhere = call.metadata.get("requires-leader")[0] === "true" && leader?.port !== port;
      if (isStranger) refuse(statusOf({ code: 16, metadata: { exception: "access-denied" } }));
      else if (!isElsewhere) serve(call, answer as A);
      else refuse(statusOf(leader ? notLeader(leader.port) : { code: 14, details: "Server Is Not Ready" }));
    };
}

/** What a node that follows answers to a call that requires the leader. */
export function notLeader(leaderPort: number) {
  const metadata = {
    exception: "not-leader",
    "leader-endpoint-host": "127.0.0.1",
    "leader-endpoint-port": String(leaderPort),
  };
  return { code: 5, details: "Leader info available", metadata };
}

function forgetPosition(answer: unknown): void {
  const { success } = answer as { success?: Success };
  if (!success) return;
  delete success.position;
  success.noPosition = {};
}

function listen(server: Server, certificate: ServerCertificate | undefined): Promise<number> {
  const credentials = certificate
    ? ServerCredentials.createSsl(null, [
        { private_key: Buffer.from(certificate.key), cert_chain: Buffer.from(certificate.cert) },
      ])
    : ServerCredentials.createInsecure();
  return new Promise((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", credentials, (error, port) => (error ? reject(error) : resolve(port))),
  );
}

function getSupportedMethods(_call: unknown, answer: Answer<object>): void {
  const methods = ["append", "read", "batchappend"].map((methodName) => ({
    serviceName: "event_store.client.streams.streams",
    methodName,
  }));
  answer(null, { methods, eventStoreServerVersion: DOUBLE_VERSION });
}
