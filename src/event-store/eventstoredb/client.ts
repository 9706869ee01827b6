// The one place that opens db-client 6.2.1 and reaches into it where its public face lacks something.
import { type AllStreamResolvedEvent, EventStoreDBClient } from "@eventstore/db-client";
import { ReadStream } from "@eventstore/db-client/dist/streams/utils/ReadStream.js";
import { convertGrpcEvent } from "@eventstore/db-client/dist/utils/convertGrpcEvent.js";
import shared from "@eventstore/db-client/generated/shared_pb.js";
import grpcServices from "@eventstore/db-client/generated/streams_grpc_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
import type { LogPosition } from "./events.ts";

type OpenRead = ConstructorParameters<typeof ReadStream>[0];
type ReadCall = Awaited<ReturnType<OpenRead>>;
type GrpcClient = { read(...args: unknown[]): ReadCall; close(): void };

/** Members that are protected in the client's types; the version is pinned, and it is the last of its line. */
type Inside = {
  supports: () => Promise<boolean>;
  capabilities: Promise<unknown>;
  getGRPCClient(service: unknown, name: string): Promise<GrpcClient>;
  GRPCStreamCreator(service: unknown, name: string, create: (client: GrpcClient) => ReadCall): OpenRead;
  callArguments(options: object, callOptions: object): unknown[];
};

/** @throws Error when the connection string can't be read; never repeats it, for it may hold a password */
export function connect(connectionString: string): EventStoreDBClient {
  // It makes a failed append look like a success with a revision made from a boolean.
  if (/throwOnAppendFailure=false/i.test(connectionString))
    throw new Error("The EventStoreDB connection string must not set throwOnAppendFailure=false");
  let client: EventStoreDBClient;
  try {
    client = EventStoreDBClient.connectionString(atLeader(connectionString));
  } catch (error) {
    // Only the certificate files' own message holds nothing of the string.
    const reason =
      error instanceof Error && /certificate|userCertFile/.test(error.message) ? `: ${error.message}` : "";
    throw new Error(`Not an EventStoreDB connection string such as esdb://host:2113?tls=false${reason}`);
  }
  appendInOwnCalls(client);
  return client;
}

/** The driver's own default is any node of a cluster, and a follower may lag. Of several the driver takes the last. */
function atLeader(connectionString: string): string {
  return `${connectionString}${connectionString.includes("?") ? "&" : "?"}nodePreference=leader`;
}

/**
 * One gRPC call an append instead of the client's shared BatchAppend stream. On that stream a lost connection rejects
 * the appends of every other connection of the process, a late answer is thrown where nobody can catch it, queued
 * writes end as unhandled rejections, and no deadline is kept. A call of its own has a deadline and fails alone.
 */
function appendInOwnCalls(client: EventStoreDBClient): void {
  inside(client).supports = async () => false;
}

/** Asks the server what it can do: the first sign that it is there and speaks this protocol. */
export async function greet(client: EventStoreDBClient): Promise<void> {
  await inside(client).capabilities;
}

/** Events the server looks through before it answers a page, matching or not. */
const SEARCH_WINDOW = 1000;

/**
 * A finite read of `$all` that the server filters; the client's own `readAll` has no filter, and its subscription
 * doesn't say on every server where the log ends. Inclusive: the event at `from` comes first if its stream matches.
 */
export function readAllFiltered(
  client: EventStoreDBClient,
  from: LogPosition | undefined,
  prefixes: readonly string[],
  limit: number,
): ReadStream<AllStreamResolvedEvent> {
  const request = new streams.ReadReq().setOptions(filteredOptions(from, prefixes, limit));
  const open = inside(client).GRPCStreamCreator(grpcServices.StreamsClient, "readAllFiltered", (grpc) =>
    grpc.read(request, ...inside(client).callArguments({}, { deadline: Number.POSITIVE_INFINITY })),
  );
  return new ReadStream<AllStreamResolvedEvent>(open, convertGrpcEvent, {});
}

function filteredOptions(from: LogPosition | undefined, prefixes: readonly string[], limit: number) {
  const all = new streams.ReadReq.Options.AllOptions();
  if (from) {
    const position = new streams.ReadReq.Options.Position();
    position.setCommitPosition(String(from.commit)).setPreparePosition(String(from.prepare));
    all.setPosition(position);
  } else {
    all.setStart(new shared.Empty());
  }
  const names = new streams.ReadReq.Options.FilterOptions.Expression().setPrefixList([...prefixes]);
  const filter = new streams.ReadReq.Options.FilterOptions()
    .setStreamIdentifier(names)
    .setMax(SEARCH_WINDOW)
    .setCheckpointintervalmultiplier(1);
  const uuids = new streams.ReadReq.Options.UUIDOption().setString(new shared.Empty());
  return new streams.ReadReq.Options()
    .setAll(all)
    .setReadDirection(0)
    .setResolveLinks(false)
    .setCount(String(limit))
    .setFilter(filter)
    .setUuidOption(uuids);
}

/** Cancels what still runs and closes the channel, which the client's own `dispose` leaves open. */
export async function disconnect(client: EventStoreDBClient): Promise<void> {
  await client.dispose();
  const grpc = await inside(client).getGRPCClient(grpcServices.StreamsClient, "close");
  grpc.close();
}

function inside(client: EventStoreDBClient): Inside {
  return client as unknown as Inside;
}
