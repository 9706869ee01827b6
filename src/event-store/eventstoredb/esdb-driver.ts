// EventStoreDB through @eventstore/db-client 6.2.1, the last of its line: used beyond its public API where that lacks something.
import { createRequire } from "node:module";
import {
  type AllStreamResolvedEvent,
  type AppendExpectedRevision,
  BACKWARDS,
  convertToCommandError,
  END,
  EventStoreDBClient,
  FORWARDS,
  jsonEvent,
  START,
  streamNameFilter,
  WrongExpectedVersionError,
} from "@eventstore/db-client";
import { ReadStream } from "@eventstore/db-client/dist/streams/utils/ReadStream.js";
import { convertGrpcEvent } from "@eventstore/db-client/dist/utils/convertGrpcEvent.js";
import shared from "@eventstore/db-client/generated/shared_pb.js";
import grpcServices from "@eventstore/db-client/generated/streams_grpc_pb.js";
import streams from "@eventstore/db-client/generated/streams_pb.js";
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

const NAME = "@eventstore/db-client";
const { version } = createRequire(import.meta.url)(`${NAME}/package.json`) as { version: string };

/** @throws Error when the connection string can't be read; never repeats it, for it may hold a password */
export function connectEventStoreDb(connectionString: string): Driver {
  const given = withDefaults(connectionString);
  try {
    return new EsdbDriver(EventStoreDBClient.connectionString(given));
  } catch (error) {
    throw unreadable(error, "esdb://host:2113?tls=false");
  }
}

class EsdbDriver implements Driver {
  readonly client = `${NAME} ${version}`;
  readonly #client: EventStoreDBClient;
  readonly #inside: Inside;

  constructor(client: EventStoreDBClient) {
    this.#client = client;
    this.#inside = client as unknown as Inside;
    // One gRPC call an append instead of the client's shared BatchAppend stream. On that stream a lost connection
    // rejects the appends of every other connection of the process, a late answer is thrown where nothing can catch
    // it, queued writes end as unhandled rejections, and no deadline is kept. A call has a deadline and fails alone.
    this.#inside.supports = async () => false;
  }

  async append({ stream, expected, events, timeoutMs }: Append): Promise<Appended> {
    try {
      const { nextExpectedRevision, position } = await this.#client.appendToStream(
        stream,
        events.map((event) => jsonEvent({ ...event, data: event.data as Record<string, unknown> })),
        { expectedRevision: clientRevision(expected), deadline: timeoutMs },
      );
      return { revision: Number(nextExpectedRevision), position };
    } catch (error) {
      if (error instanceof WrongExpectedVersionError) throw new WrongRevision(actualRevision(error));
      throw typed(error);
    }
  }

  readStream({ stream, from, backwards, limit }: StreamRead): EventPull {
    return pullRead(
      this.#client.readStream(stream, {
        direction: backwards ? BACKWARDS : FORWARDS,
        fromRevision: from === undefined ? (backwards ? END : START) : BigInt(from),
        maxCount: limit,
      }),
    );
  }

  readAll(read: PrefixRead | "last"): EventPull {
    if (read === "last")
      return pullRead(this.#client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }));
    // The client's own `readAll` has no filter, and its subscription doesn't say on every server where the log ends.
    const request = new streams.ReadReq().setOptions(filteredOptions(read));
    const inside = this.#inside;
    const open = inside.GRPCStreamCreator(grpcServices.StreamsClient, "readAllFiltered", (grpc) =>
      grpc.read(request, ...inside.callArguments({}, { deadline: Number.POSITIVE_INFINITY })),
    );
    return pullRead(new ReadStream<AllStreamResolvedEvent>(open, convertGrpcEvent, {}));
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
}

function typed(error: unknown): unknown {
  return typedError(error, convertToCommandError);
}

type ClientRead = ConstructorParameters<typeof Pull>[0] & { cancel(): Promise<void> };

function pullRead(stream: ClientRead): EventPull {
  return new Pull(stream, { typed, cancel: () => void stream.cancel().catch(() => {}) });
}

/** Never -1, which the client can't encode. */
function clientRevision(expected: ExpectedRevision): AppendExpectedRevision {
  if (typeof expected === "number") return expected < 0 ? "no_stream" : BigInt(expected);
  return ({ any: "any", none: "no_stream", exists: "stream_exists" } as const)[expected];
}

/** The client answers `no_stream` where there is none, against its type. */
function actualRevision({ actualVersion }: WrongExpectedVersionError): number | "none" {
  return typeof actualVersion === "bigint" ? Number(actualVersion) : "none";
}

function filteredOptions({ from, prefixes, limit }: PrefixRead) {
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
