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
import { APPEND_PATH, appendAnswer, appendOptions } from "./protocol/append-messages.ts";
import { readAnswer } from "./protocol/read-answer.ts";
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

export function grpcDriver(library: GrpcLibrary): Driver {
  return new GrpcDriver(library);
}

/** Events that wait here in a read, whose consumer takes them as they come. */
const READ_BUFFER = 500;

class GrpcDriver implements Driver {
  readonly client: string;
  readonly #library: GrpcLibrary;
  readonly #internals: ClientInternals;

  constructor(library: GrpcLibrary) {
    this.client = library.name;
    this.#library = library;
    this.#internals = library.client as unknown as ClientInternals;
  }

  async append({ stream, expected, events, timeoutMs }: Append): Promise<Appended> {
    const messages = [appendOptions(stream, expected), ...events];
    const args = this.#internals.callArguments({ deadline: timeoutMs });
    const call = (grpc: GrpcClient) =>
      new Promise<Appended | WrongRevision>((resolve, reject) => {
        const fail = (error: Error) => reject(this.#typed(error));
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
    const answering = this.#internals.execute(this.#library.streamsService, "append", call);
    const answer = await answering.catch((error: unknown) => {
      throw this.#typed(error);
    });
    if (answer instanceof WrongRevision) throw answer;
    return answer;
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

  async greet(): Promise<string> {
    try {
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
        const args = this.#internals.callArguments({}, { deadline: Number.POSITIVE_INFINITY });
        const call = grpc.makeServerStreamRequest(READ_PATH, asBuffer, readAnswer, request, ...args);
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
