// A server that speaks EventStoreDB's wire protocol over the SQLite store, to make the client's failures happen.

import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import featuresRpc from "@eventstore/db-client/generated/serverfeatures_grpc_pb.js";
import features from "@eventstore/db-client/generated/serverfeatures_pb.js";
import shared from "@eventstore/db-client/generated/shared_pb.js";
import streamsRpc from "@eventstore/db-client/generated/streams_grpc_pb.js";
import type { DeleteReq, DeleteResp } from "@eventstore/db-client/generated/streams_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import {
  Metadata,
  Server,
  ServerCredentials,
  type StatusObject,
  type UntypedHandleCall,
} from "@grpc/grpc-js";
import type { EventStore } from "../../../../src/event-store/port.ts";
import { openSqliteEventStore } from "../../../../src/event-store/sqlite/event-store.ts";
import { messageOf } from "../../../../src/runtime/errors.ts";
import { temporaryFolder } from "../../runtime/temporary-folder.ts";
import { sampleEvent } from "../sample-events.ts";
import { appendCall, batchAppendCall } from "./append.ts";
import { type Answer, type Misbehave, Script } from "./faults.ts";
import { streamName } from "./messages.ts";
import { readCall } from "./read.ts";
import { Wire } from "./wire.ts";

export type EventStoreDbDouble = {
  /** Through the wire, so that connections can be cut and refused. */
  connectionString: string;
  script: Script;
  wire: Wire;
  /** The events behind it, without the wire. */
  store: EventStore;
  close(): Promise<void>;
};

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
  const deleted = new Set<string>();
  const misbehave = misbehaving(script, () => wire.cut());
  serve(server, streamsRpc.StreamsService, {
    append: appendCall(store, misbehave),
    batchAppend: batchAppendCall(store, misbehave),
    read: readCall({ store, script, misbehave, deleted, cut: () => wire.cut() }),
    delete: deleteCall(deleted),
    tombstone: deleteCall(deleted),
  });
  serve(server, featuresRpc.ServerFeaturesService, { getSupportedMethods });
  await wire.open();
  return {
    connectionString: `esdb://127.0.0.1:${wire.port}?tls=false`,
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
      if ((fault?.kind === "silent" || fault?.kind === "drop") && fault.commit) await work();
      if (fault?.kind === "drop") cut();
      if (fault?.kind === "silent" || fault?.kind === "drop") return;
      const value = await work();
      if (fault?.kind === "placeless" && value instanceof streams.AppendResp)
        value.getSuccess()?.setNoPosition(new shared.Empty());
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

/** The generated service names its handlers by method; the client's types and gRPC's differ on the details. */
function serve(server: Server, service: unknown, handlers: Record<string, unknown>): void {
  server.addService(service as never, handlers as Record<string, UntypedHandleCall>);
}

function listen(server: Server): Promise<number> {
  return new Promise((resolve, reject) =>
    server.bindAsync("127.0.0.1:0", ServerCredentials.createInsecure(), (error, port) =>
      error ? reject(error) : resolve(port),
    ),
  );
}

function getSupportedMethods(
  _call: unknown,
  answer: Answer<InstanceType<typeof features.SupportedMethods>>,
): void {
  const supported = new features.SupportedMethods().setEventStoreServerVersion("24.10.0");
  for (const name of ["append", "batchappend", "read"])
    supported.addMethods(
      new features.SupportedMethod().setServiceName("event_store.client.streams.streams").setMethodName(name),
    );
  answer(null, supported);
}

/** For good: nothing here makes a deleted stream anew. */
function deleteCall(deleted: Set<string>) {
  return ({ request }: { request: DeleteReq }, answer: Answer<DeleteResp>): void => {
    deleted.add(streamName(request.getOptions()?.getStreamIdentifier()));
    answer(null, new streams.DeleteResp().setNoPosition(new shared.Empty()));
  };
}
