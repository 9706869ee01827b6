// KurrentDB, EventStoreDB's present name, through @kurrent/kurrentdb-client, whose reads are replaced by plain gRPC ones.
//
// The client reads through a native library that rounds an event's time down to whole seconds, never connects again
// once its first attempt has failed, stays with a cluster's node that is gone, and can neither cancel a read nor close
// its connection. Appends and subscriptions go over gRPC in JavaScript, and so do the reads here: by the client's own
// channel, its generated messages and its own conversion of events. docs/decisions.md has how each fault was seen.
import { createRequire } from "node:module";
import {
  type AllStreamResolvedEvent,
  type AppendStreamState,
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
import type { ExpectedRevision } from "../port.ts";
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
import { Pull } from "./pull.ts";
import { pullSubscription, SEARCH_WINDOW } from "./pull-subscription.ts";

type OpenRead = ConstructorParameters<typeof ReadStream>[0];
type ReadCall = Awaited<ReturnType<OpenRead>>;
type GrpcClient = { read(...args: unknown[]): ReadCall };

/** Members that are protected in the client's types; the version is pinned. */
type Inside = {
  supports: () => Promise<boolean>;
  capabilities: Promise<{ serverVersion: string }>;
  getChannel(): Promise<{ close(): void }>;
  GRPCStreamCreator(service: unknown, name: string, create: (client: GrpcClient) => ReadCall): OpenRead;
  callArguments(options: object, callOptions: object): unknown[];
};

const NAME = "@kurrent/kurrentdb-client";
const { version } = createRequire(import.meta.url)(`${NAME}/package.json`) as { version: string };

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
  readonly client = `${NAME} ${version}`;
  readonly #client: KurrentDBClient;
  readonly #inside: Inside;

  constructor(client: KurrentDBClient) {
    this.#client = client;
    this.#inside = client as unknown as Inside;
    // One gRPC call an append instead of the client's shared BatchAppend stream, on which a lost connection rejects
    // every append in flight, queued writes end as unhandled rejections, and no deadline is kept.
    this.#inside.supports = async () => false;
  }

  async append({ stream, expected, events, timeoutMs }: Append): Promise<Appended> {
    // Under its former name, `expectedRevision`, the client would ignore it and check nothing: hence the exact type.
    const options: AppendToStreamOptions = { streamState: clientState(expected), deadline: timeoutMs };
    try {
      const { nextExpectedRevision, position } = await this.#client.appendToStream(
        stream,
        events.map((event) => jsonEvent({ ...event, data: event.data as Record<string, unknown> })),
        options,
      );
      return { revision: Number(nextExpectedRevision), position };
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) throw new WrongRevision(actualRevision(error));
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
      return (await this.#inside.capabilities).serverVersion;
    } catch (error) {
      throw typed(error);
    }
  }

  /** The client's own `dispose` cancels what still runs, but leaves the channel open. */
  async close(): Promise<void> {
    await this.#client.dispose();
    (await this.#inside.getChannel()).close();
  }

  #read(options: ReadOptions): EventPull {
    const uuids = new Options.UUIDOption().setString(new shared.Empty());
    const request = new streams.ReadReq().setOptions(options.setResolveLinks(false).setUuidOption(uuids));
    const inside = this.#inside;
    const open = inside.GRPCStreamCreator(grpcServices.StreamsClient, "read", (grpc) =>
      grpc.read(request, ...inside.callArguments({}, { deadline: Number.POSITIVE_INFINITY })),
    );
    const events = new ReadStream<AllStreamResolvedEvent>(open, convertGrpcEvent, {});
    return new Pull(events, { typed, cancel: () => void events.cancel().catch(() => {}) });
  }
}

function typed(error: unknown): unknown {
  return typedError(error, convertToCommandError);
}

function clientState(expected: ExpectedRevision): AppendStreamState {
  if (typeof expected === "number") return expected < 0 ? "no_stream" : BigInt(expected);
  return ({ any: "any", none: "no_stream", exists: "stream_exists" } as const)[expected];
}

function actualRevision({ actualState }: WrongExpectedVersionError): number | "none" {
  return typeof actualState === "bigint" ? Number(actualState) : "none";
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
