// What both client libraries have beyond their public API, under the same names; their versions are pinned.
import { createRequire } from "node:module";
import type { ExpectedRevision } from "../port.ts";
import { Pull, type PullOptions } from "./pull.ts";

/** Opens the gRPC call of a read. */
type OpenRead = (...args: never[]) => Promise<unknown>;
type GrpcClient<Open extends OpenRead> = { read(...args: unknown[]): Awaited<ReturnType<Open>> };

/** Members that are protected in the clients' types. */
export type ClientInternals<Open extends OpenRead> = {
  supports: () => Promise<boolean>;
  capabilities: Promise<{ serverVersion: string }>;
  getChannel(): Promise<{ close(): void }>;
  GRPCStreamCreator(
    service: unknown,
    name: string,
    create: (client: GrpcClient<Open>) => Awaited<ReturnType<Open>>,
  ): Open;
  callArguments(options: object, callOptions: object): unknown[];
};

/** The library's name with its installed version. */
export function withVersion(library: string): string {
  const { version } = createRequire(import.meta.url)(`${library}/package.json`) as { version: string };
  return `${library} ${version}`;
}

/**
 * One gRPC call an append instead of the client's shared BatchAppend stream. On that stream a lost connection rejects
 * the appends of every other connection of the process, a late answer is thrown where nothing can catch it, queued
 * writes end as unhandled rejections, and no deadline is kept. A call has a deadline and fails alone.
 */
export function avoidBatchAppend(internals: Pick<ClientInternals<OpenRead>, "supports">): void {
  internals.supports = async () => false;
}

/** A read by the client's own channel. `service`, `request`: the client's generated ones. */
export function openRead<Open extends OpenRead>(
  internals: ClientInternals<Open>,
  service: unknown,
  request: unknown,
): Open {
  return internals.GRPCStreamCreator(service, "read", (grpc) =>
    grpc.read(request, ...internals.callArguments({}, { deadline: Number.POSITIVE_INFINITY })),
  );
}

type ClientRead = ConstructorParameters<typeof Pull>[0] & { cancel(): Promise<void> };

export function pullRead(stream: ClientRead, typed: PullOptions["typed"]): Pull {
  return new Pull(stream, { typed, cancel: () => void stream.cancel().catch(() => {}) });
}

/** As the clients spell it; never -1, which they can't encode. */
export function clientRevision(expected: ExpectedRevision): "any" | "no_stream" | "stream_exists" | bigint {
  if (typeof expected === "number") return expected < 0 ? "no_stream" : BigInt(expected);
  return ({ any: "any", none: "no_stream", exists: "stream_exists" } as const)[expected];
}

/** From a refused append. The clients answer `no_stream` where there is none, against their types. */
export function actualRevision(answered: unknown): number | "none" {
  return typeof answered === "bigint" ? Number(answered) : "none";
}

/** The client's own `dispose` cancels what still runs, but leaves the channel open. */
export async function closeClient(
  client: { dispose(): Promise<void> },
  internals: Pick<ClientInternals<OpenRead>, "getChannel">,
): Promise<void> {
  await client.dispose();
  (await internals.getChannel()).close();
}
