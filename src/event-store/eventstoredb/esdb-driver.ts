// EventStoreDB through @eventstore/db-client 6.2.1, the last of its line: used beyond its public API where that lacks something.
import {
  type AllStreamResolvedEvent,
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
  readonly client = withVersion("@eventstore/db-client");
  readonly #client: EventStoreDBClient;
  readonly #internals: Internals;

  constructor(client: EventStoreDBClient) {
    this.#client = client;
    this.#internals = client as unknown as Internals;
    avoidBatchAppend(this.#internals);
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
      if (error instanceof WrongExpectedVersionError)
        throw new WrongRevision(actualRevision(error.actualVersion));
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
      typed,
    );
  }

  readAll(read: PrefixRead | "last"): EventPull {
    if (read === "last")
      return pullRead(this.#client.readAll({ direction: BACKWARDS, fromPosition: END, maxCount: 1 }), typed);
    // The client's own `readAll` has no filter, and its subscription doesn't say on every server where the log ends.
    const request = new streams.ReadReq().setOptions(filteredOptions(read));
    const open = openRead(this.#internals, grpcServices.StreamsClient, request);
    return pullRead(new ReadStream<AllStreamResolvedEvent>(open, convertGrpcEvent, {}), typed);
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
}

function typed(error: unknown): unknown {
  return typedError(error, convertToCommandError);
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
