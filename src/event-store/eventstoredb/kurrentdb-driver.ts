// KurrentDB, EventStoreDB's present name, through @kurrent/kurrentdb-client, whose reads are replaced by plain gRPC ones.
//
// The client reads through a native library that rounds an event's time down to whole seconds, never connects again
// once its first attempt has failed, stays with a cluster's node that is gone, and can neither cancel a read nor close
// its connection. Appends and subscriptions go over gRPC in JavaScript, and so do the reads here: by the client's own
// channel, its generated messages and its own conversion of events. docs/decisions.md has how each fault was seen.
import {
  type AllStreamResolvedEvent,
  type AppendToStreamOptions,
  convertToCommandError,
  jsonEvent,
  KurrentDBClient,
  START,
  streamNameFilter,
  WrongExpectedVersionError,
} from "@kurrent/kurrentdb-client";
import { ReadStream } from "@kurrent/kurrentdb-client/dist/streams/utils/ReadStream.js";
import { convertGrpcEvent } from "@kurrent/kurrentdb-client/dist/utils/convertGrpcEvent.js";
import shared from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/shared_pb.js";
import grpcServices from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_grpc_pb.js";
import streams from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_pb.js";
import {
  actualRevision,
  avoidBatchAppend,
  type ClientInternals,
  clientRevision,
  closeClient,
  openRead,
  pullRead,
  withVersion,
} from "./client-internals.ts";
import { unreadable, withDefaults } from "./connection-string.ts";
import type {
  Append,
  Appended,
  Driver,
  EventPull,
  LogSubscription,
  PrefixRead,
  StreamRead,
} from "./driver.ts";
import { typedError, WrongRevision } from "./errors.ts";
import { pullSubscription, SEARCH_WINDOW } from "./pull-subscription.ts";

type Internals = ClientInternals<ConstructorParameters<typeof ReadStream>[0]>;

const { Options } = streams.ReadReq;
type ReadOptions = InstanceType<typeof Options>;

/** @throws Error when the connection string can't be read; never repeats it, for it may hold a password */
export function connectKurrentDb(connectionString: string): Driver {
  const given = withDefaults(connectionString);
  try {
    return new KurrentDbDriver(KurrentDBClient.connectionString(given));
  } catch (error) {
    throw unreadable(error, "kurrentdb://host:2113?tls=false");
  }
}

class KurrentDbDriver implements Driver {
  readonly client = withVersion("@kurrent/kurrentdb-client");
  readonly #client: KurrentDBClient;
  readonly #internals: Internals;

  constructor(client: KurrentDBClient) {
    this.#client = client;
    this.#internals = client as unknown as Internals;
    avoidBatchAppend(this.#internals);
  }

  async append({ stream, expected, events, timeoutMs }: Append): Promise<Appended> {
    // Under its former name, `expectedRevision`, the client would ignore it and check nothing: hence the exact type.
    const options: AppendToStreamOptions = { streamState: clientRevision(expected), deadline: timeoutMs };
    try {
      const { nextExpectedRevision, position } = await this.#client.appendToStream(
        stream,
        events.map((event) => jsonEvent({ ...event, data: event.data as Record<string, unknown> })),
        options,
      );
      return { revision: Number(nextExpectedRevision), position };
    } catch (error) {
      if (error instanceof WrongExpectedVersionError)
        throw new WrongRevision(actualRevision(error.actualState));
      throw typed(error);
    }
  }

  readStream(read: StreamRead): EventPull {
    return this.#read(streamOptions(read));
  }

  readAll(read: PrefixRead | "last"): EventPull {
    return this.#read(read === "last" ? lastOptions() : filteredOptions(read));
  }

  subscribeAll({ after, prefixes, buffer }: LogSubscription): EventPull {
    const open = (filter: Parameters<typeof streamNameFilter>[0]) =>
      this.#client.subscribeToAll(
        { fromPosition: after ?? START, filter: streamNameFilter(filter) },
        { highWaterMark: buffer },
      );
    return pullSubscription(open, prefixes, typed);
  }

  async greet(): Promise<string> {
    try {
      return (await this.#internals.capabilities).serverVersion;
    } catch (error) {
      throw typed(error);
    }
  }

  close(): Promise<void> {
    return closeClient(this.#client, this.#internals);
  }

  #read(options: ReadOptions): EventPull {
    const uuids = new Options.UUIDOption().setString(new shared.Empty());
    const request = new streams.ReadReq().setOptions(options.setResolveLinks(false).setUuidOption(uuids));
    const open = openRead(this.#internals, grpcServices.StreamsClient, request);
    return pullRead(new ReadStream<AllStreamResolvedEvent>(open, convertGrpcEvent, {}), typed);
  }
}

function typed(error: unknown): unknown {
  return typedError(error, convertToCommandError);
}

const FORWARDS = 0;
const BACKWARDS = 1;

function streamOptions({ stream, from, backwards, limit }: StreamRead): ReadOptions {
  const name = new shared.StreamIdentifier().setStreamName(Buffer.from(stream).toString("base64"));
  const read = new Options.StreamOptions().setStreamIdentifier(name);
  if (from !== undefined) read.setRevision(String(from));
  else if (backwards) read.setEnd(new shared.Empty());
  else read.setStart(new shared.Empty());
  return new Options()
    .setStream(read)
    .setReadDirection(backwards ? BACKWARDS : FORWARDS)
    .setCount(String(limit))
    .setNoFilter(new shared.Empty());
}

function lastOptions(): ReadOptions {
  const all = new Options.AllOptions().setEnd(new shared.Empty());
  return new Options().setAll(all).setReadDirection(BACKWARDS).setCount("1").setNoFilter(new shared.Empty());
}

function filteredOptions({ from, prefixes, limit }: PrefixRead): ReadOptions {
  const all = new Options.AllOptions();
  if (from) {
    const position = new Options.Position();
    position.setCommitPosition(String(from.commit)).setPreparePosition(String(from.prepare));
    all.setPosition(position);
  } else {
    all.setStart(new shared.Empty());
  }
  const names = new Options.FilterOptions.Expression().setPrefixList([...prefixes]);
  const filter = new Options.FilterOptions()
    .setStreamIdentifier(names)
    .setMax(SEARCH_WINDOW)
    .setCheckpointintervalmultiplier(1);
  return new Options().setAll(all).setReadDirection(FORWARDS).setCount(String(limit)).setFilter(filter);
}
