// The server's protocol as plain objects, read from .proto files: the client's generated messages are not part of its public API.
import { fileURLToPath } from "node:url";
import { loadPackageDefinition, type ServiceDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

type Identifier = { streamName?: Buffer };
type WirePosition = { commitPosition: string; preparePosition: string };

/** Of each group of optional members at most one is set. */
export type ReadOptions = {
  stream?: { streamIdentifier?: Identifier; revision?: string };
  all?: { position?: WirePosition };
  readDirection?: "Forwards" | "Backwards";
  count?: string;
  subscription?: object;
  filter?: { streamIdentifier?: Expression; eventType?: Expression; max?: number };
};
export type Expression = { regex?: string; prefix?: string[] };
export type ReadRequest = { options?: ReadOptions };

export type ReadAnswer =
  | { event: { event: object; commitPosition: string } }
  | { confirmation: { subscriptionId: string } }
  | { checkpoint: WirePosition }
  | { streamNotFound: { streamIdentifier: Identifier } }
  | { caughtUp: object };

type AppendOptions = {
  streamIdentifier?: Identifier;
  revision?: string;
  noStream?: object;
  any?: object;
};
export type ProposedMessage = {
  id?: { string?: string };
  metadata?: Record<string, string>;
  customMetadata?: Buffer;
  data?: Buffer;
};
export type AppendRequest = { options?: AppendOptions; proposedMessage?: ProposedMessage };

export type DeleteRequest = { options?: { streamIdentifier?: Identifier } };
export type DeleteAnswer = { position: WirePosition };

export type Success = { currentRevision: string; position?: WirePosition; noPosition?: object };
export type AppendAnswer = { success: Success } | { wrongExpectedVersion: object };

export const STREAMS = service("streams.proto", "event_store.client.streams", "Streams");
export const SERVER_FEATURES = service(
  "server-features.proto",
  "event_store.client.server_features",
  "ServerFeatures",
);
type Definitions = { [name: string]: Definitions } & { service: ServiceDefinition };

function service(file: string, path: string, name: string): ServiceDefinition {
  const packages = loadSync(fileURLToPath(new URL(file, import.meta.url)), { longs: String, enums: String });
  let found = loadPackageDefinition(packages) as unknown as Definitions;
  for (const part of [...path.split("."), name]) found = found[part] as Definitions;
  return found.service;
}
