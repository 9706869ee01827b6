// What both client libraries have beyond their public API, under the same names; their versions are pinned.
import { createRequire } from "node:module";

/** Calls as grpc-js makes them: with a stream of answers, with one of messages, and with both. */
export type ReadCall = {
  on(event: "data", listener: (answer: unknown) => void): unknown;
  on(event: "error", listener: (error: Error) => void): unknown;
  on(event: "end", listener: () => void): unknown;
  pause(): unknown;
  resume(): unknown;
  cancel(): void;
};
export type AppendCall = {
  on(event: "error", listener: (error: Error) => void): unknown;
  write(message: Uint8Array): unknown;
  end(): unknown;
};

export type BatchCall = Pick<ReadCall, "on" | "cancel"> & Pick<AppendCall, "write" | "end">;

type Encode = (message: Uint8Array) => Buffer;

/** The public methods of grpc-js's generic client; the clients' generated service classes extend it. */
export type GrpcClient = {
  makeClientStreamRequest<Answer>(
    path: string,
    encode: Encode,
    decode: (message: Buffer) => Answer,
    ...args: [...unknown[], (error: Error | null, answer?: Answer) => void]
  ): AppendCall;
  makeBidiStreamRequest<Answer>(
    path: string,
    encode: Encode,
    decode: (message: Buffer) => Answer,
    ...args: unknown[]
  ): BatchCall;
  makeServerStreamRequest<Answer>(
    path: string,
    encode: Encode,
    decode: (message: Buffer) => Answer,
    request: Uint8Array,
    ...args: unknown[]
  ): ReadCall;
};

/** Members that are protected in the clients' types. `service`: the client's generated service class. */
export type ClientInternals = {
  capabilities: Promise<{ serverVersion: string }>;
  getChannel(): Promise<{ close(): void }>;
  /** After an error that says so, later calls go to another node. The clients call it without awaiting it. */
  handleError(client: unknown, error: unknown): Promise<void>;
  /** Runs one call; `handleError` gets its error. */
  execute<T>(service: unknown, name: string, run: (client: GrpcClient) => Promise<T>): Promise<T>;
  /** The same for a stream, which `dispose` then ends. */
  GRPCStreamCreator(
    service: unknown,
    name: string,
    create: (client: GrpcClient) => ReadCall,
  ): () => Promise<ReadCall>;
  /** Metadata and options: credentials, the connection's name, and the deadline in milliseconds. */
  callArguments(options: { deadline?: number; requiresLeader: boolean }, callOptions?: object): unknown[];
};

/** The library's name with its installed version. */
export function withVersion(library: string): string {
  const { version } = createRequire(import.meta.url)(`${library}/package.json`) as { version: string };
  return `${library} ${version}`;
}
