// The one driver for both client libraries: their channel, credentials, discovery and reconnecting, with messages of our own.
//
// Their public API is left aside for what was measured and seen (docs/decisions.md): the shared BatchAppend stream, where
// a lost connection rejects other appends and no deadline is kept; KurrentDB's native reads; and generated messages, which
// cost as much as all other work. Here each append and each read is one call, which has a deadline and fails alone.
import type { ClientInternals, GrpcClient, ReadCall } from "./client-internals.ts";
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
import {
  APPEND_PATH,
  appendAnswer,
  appendEvent,
  appendOptions,
  BATCH_APPEND_PATH,
  batchAnswer,
  batchRequest,
} from "./protocol/append-messages.ts";
import { answerReader } from "./protocol/read-answer.ts";
import {
  lastRequest,
  prefixRequest,
  READ_PATH,
  streamRequest,
  subscriptionRequest,
} from "./protocol/read-request.ts";
import { Pull } from "./pull.ts";

/** A client library with its connection. */
export type GrpcLibrary = {
  /** Name and version. */
  name: string;
  client: { dispose(): Promise<void> };
  /** The library's generated class for the service of streams. */
  streamsService: unknown;
  /** The library's own function that gives a gRPC error its type. */
  classify: (error: Error) => unknown;
};

/**
 * Events from which on an append goes in one message: a message each costs 31 µs of CPU an event, one for 340 of them
 * 4 µs. What goes wrong with it is settled the plain way, and nothing else is tried for a minute.
 */
const LARGE_APPEND = 20;
const PLAIN_MS = 60_000;

/**
 * A node that doesn't lead refuses the call and names the leader, to which the client then connects. During an election the
 * clients connect to a follower, and stay connected to a leader that steps down: either would answer reads, but lags.
 */
const AT_LEADER = { requiresLeader: true };

/** Events that wait here in a read, whose consumer takes them as they come. */
const READ_BUFFER = 500;

export class GrpcDriver implements Driver {
  readonly client: string;
  readonly #library: GrpcLibrary;
  readonly #internals: ClientInternals;
  /** Monotonic milliseconds; before that no append goes in one message. */
  #plainUntil = 0;

  constructor(library: GrpcLibrary) {
    this.client = library.name;
    this.#library = library;
    this.#internals = library.client as unknown as ClientInternals;
    // It awaits a search for a node that is in flight: without this a search that fails would end the process.
    const { handleError } = this.#internals;
    this.#internals.handleError = (client, error) => handleError(client, error).catch(() => undefined);
  }

  async append(append: Append): Promise<Appended> {
    const { expected, events } = append;
    if (expected === "any" || events.length < LARGE_APPEND || performance.now() < this.#plainUntil)
      return this.#appendPlainly(append);
    const appended = await this.#appendInOne(append).catch(() => undefined);
    if (appended) return appended;
    // At an exact revision the server recognises events that it has already, so that this settles any outcome.
    this.#plainUntil = performance.now() + PLAIN_MS;
    return this.#appendPlainly(append);
  }

  /** One message an event. */
  async #appendPlainly({ stream, expected, events, timeoutMs }: Append): Promise<Appended> {
    const messages = [appendOptions(stream, expected), ...events.map(({ message }) => appendEvent(message))];
    const args = this.#internals.callArguments({ ...AT_LEADER, deadline: timeoutMs });
    const answer = await this.#execute((grpc, resolve: (answer: Appended | WrongRevision) => void, fail) => {
      const sink = grpc.makeClientStreamRequest(
        APPEND_PATH,
        asBuffer,
        appendAnswer,
        ...args,
        (error, answer) => (answer ? resolve(answer) : fail(error ?? new Error("no answer"))),
      );
      sink.on("error", fail);
      // Not paced by `drain`: an append is small, and after a lost connection no `drain` comes.
      for (const message of messages) sink.write(message);
      sink.end();
    });
    if (answer instanceof WrongRevision) throw answer;
    return answer;
  }

  /** All events in one message, on a call of its own. Undefined, or an error, for anything but a success. */
  async #appendInOne(append: Append): Promise<Appended | undefined> {
    const message = batchRequest(append.events[0]?.id ?? "", append);
    const args = this.#internals.callArguments({ ...AT_LEADER, deadline: append.timeoutMs });
    return this.#execute((grpc, resolve: (appended: Appended | undefined) => void, fail) => {
      const call = grpc.makeBidiStreamRequest(BATCH_APPEND_PATH, asBuffer, batchAnswer, ...args);
      call.on("error", fail);
      call.on("end", () => resolve(undefined));
      call.on("data", (answer) => {
        resolve((answer as ReturnType<typeof batchAnswer>).appended);
        // The server may keep a call open that it answered before it saw its end.
        setImmediate(() => call.cancel());
      });
      call.write(message);
      call.end();
    });
  }

  async #execute<T>(
    run: (grpc: GrpcClient, resolve: (result: T) => void, fail: (error: Error) => void) => void,
  ): Promise<T> {
    const call = (grpc: GrpcClient) =>
      new Promise<T>((resolve, reject) => run(grpc, resolve, (error) => reject(this.#typed(error))));
    try {
      return await this.#internals.execute(this.#library.streamsService, "append", call);
    } catch (error) {
      throw this.#typed(error);
    }
  }

  readStream(read: StreamRead): EventPull {
    return this.#read(streamRequest(read), READ_BUFFER);
  }

  readAll(read: PrefixRead | "last"): EventPull {
    return this.#read(read === "last" ? lastRequest() : prefixRequest(read), READ_BUFFER);
  }

  subscribeAll(subscription: LogSubscription): EventPull {
    return this.#read(subscriptionRequest(subscription), subscription.buffer);
  }

  async serverVersion(): Promise<string> {
    try {
      // First, as the client keeps `capabilities` for ever when the search for a node in it fails.
      await this.#internals.getChannel();
      return (await this.#internals.capabilities).serverVersion;
    } catch (error) {
      throw this.#typed(error);
    }
  }

  /** The client's own `dispose` cancels what still runs, but leaves the channel open. */
  async close(): Promise<void> {
    await this.#library.client.dispose();
    (await this.#internals.getChannel()).close();
  }

  #read(request: Uint8Array, buffer: number): EventPull {
    const open = (onCall: (call: ReadCall) => void) =>
      this.#internals.GRPCStreamCreator(this.#library.streamsService, "read", (grpc) => {
        const args = this.#internals.callArguments(AT_LEADER, { deadline: Number.POSITIVE_INFINITY });
        const call = grpc.makeServerStreamRequest(READ_PATH, asBuffer, answerReader(), request, ...args);
        onCall(call);
        return call;
      })();
    return new Pull(open, { buffer, typed: (error) => this.#typed(error) });
  }

  #typed(error: unknown): unknown {
    return typedError(error, this.#library.classify);
  }
}

function asBuffer(message: Uint8Array): Buffer {
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength);
}
