// A server that speaks EventStoreDB's wire protocol over the SQLite store, to make the client's failures happen.
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { Metadata, Server, ServerCredentials, type StatusObject } from "@grpc/grpc-js";
import type { EventStore } from "../../../../src/event-store/port.ts";
import { openSqliteEventStore } from "../../../../src/event-store/sqlite/event-store.ts";
import { messageOf } from "../../../../src/runtime/errors.ts";
import { temporaryFolder } from "../../runtime/temporary-folder.ts";
import { sampleEvent } from "../sample-events.ts";
import { appendCall, batchAppendCall } from "./append.ts";
import { type Answer, type Misbehave, Script } from "./faults.ts";
import { GOSSIP, SERVER_FEATURES, STREAMS, type Success } from "./protocol.ts";
import { readCall } from "./read.ts";
import { Wire } from "./wire.ts";

export const SCHEMES = ["esdb", "kurrentdb"] as const;
export type Scheme = (typeof SCHEMES)[number];

export type Member = { port: number; state: "Leader" | "Follower" };

export type EventStoreDbDouble = {
  /** Through the wire, so that connections can be cut and refused; the scheme chooses the client. */
  url(scheme: Scheme): string;
  /** For the client of EventStoreDB. */
  connectionString: string;
  /** The cluster's nodes in its gossip; itself alone until a test changes them. */
  members: Member[];
  script: Script;
  wire: Wire;
  /** The events behind it, without the wire. */
  store: EventStore;
  close(): Promise<void>;
};

/** The server version that it answers. */
export const DOUBLE_VERSION = "26.0.0";

/** The real server's log is never empty: it starts with events of its own. */
const SYSTEM_STREAM = "$scavenges";

export async function startDouble(): Promise<EventStoreDbDouble> {
  const folder = await temporaryFolder();
  const store = await openSqliteEventStore(join(folder.path, "double.db"), { pollMs: 20 });
  await store.append(SYSTEM_STREAM, "none", [sampleEvent({}, "$scavengeStarted")]);
  const script = new Script();
  const server = new Server({ "grpc.max_receive_message_length": 17 * 1024 * 1024 });
  const listening = await listen(server);
  const wire = new Wire(listening);
  const misbehave = misbehaving(script, () => wire.cut());
  await wire.open();
  const members: Member[] = [{ port: wire.port, state: "Leader" }];
  const atLeader = refusedElsewhere(members, wire.port);
  server.addService(STREAMS, {
    append: atLeader(appendCall(store, misbehave)),
    batchAppend: atLeader(batchAppendCall(store, misbehave)),
    read: atLeader(readCall({ store, script, misbehave, cut: () => wire.cut() })),
  });
  server.addService(SERVER_FEATURES, { getSupportedMethods });
  server.addService(GOSSIP, { read: gossipCall(members) });
  const url = (scheme: Scheme) => `${scheme}://127.0.0.1:${wire.port}?tls=false`;
  return {
    url,
    connectionString: url("esdb"),
    members,
    script,
    wire,
    store,
    close: async () => {
      await wire.close();
      server.forceShutdown();
      await store.close();
      await folder.remove();
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

function statusOf(fault: {
  code: number;
  details?: string;
  metadata?: Record<string, string>;
}): Partial<StatusObject> {
  const metadata = new Metadata();
  for (const [key, value] of Object.entries(fault.metadata ?? {})) metadata.set(key, value);
  return { code: fault.code, details: fault.details ?? "scripted", metadata };
}

type Refuse = (error: Partial<StatusObject>) => void;
type LeaderCall = { metadata: Metadata; emit(event: "error", error: Partial<StatusObject>): unknown };

/** Serves a call that requires the leader only where that is this node, as the real server does. */
function refusedElsewhere(members: readonly Member[], port: number) {
  return <C extends LeaderCall, A extends Refuse>(serve: (call: C, answer: A) => unknown) =>
    (call: C, answer?: A): void => {
      const leader = members.find(({ state }) => state === "Leader");
      const isRefused = call.metadata.get("requires-leader")[0] === "true" && leader?.port !== port;
      if (!isRefused) return void serve(call, answer as A);
      const refuse: Refuse = answer ?? ((error) => void call.emit("error", error));
      refuse(statusOf(leader ? notLeader(leader.port) : { code: 14, details: "Server Is Not Ready" }));
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

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  );
}

function gossipCall(members: readonly Member[]) {
  return (_call: unknown, answer: Answer<object>): void => {
    const alive = members.map(({ port, state }) => ({
      instanceId: { string: randomUUID() },
      timeStamp: "0",
      state,
      isAlive: true,
      httpEndPoint: { address: "127.0.0.1", port },
    }));
    answer(null, { members: alive });
  };
}

function getSupportedMethods(_call: unknown, answer: Answer<object>): void {
  const methods = ["append", "read"].map((methodName) => ({
    serviceName: "event_store.client.streams.streams",
    methodName,
  }));
  answer(null, { methods, eventStoreServerVersion: DOUBLE_VERSION });
}
