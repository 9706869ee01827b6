// KurrentDB, EventStoreDB's present name, through @kurrent/kurrentdb-client.
import { convertToCommandError, KurrentDBClient } from "@kurrent/kurrentdb-client";
import { StreamsClient } from "@kurrent/kurrentdb-client/generated/kurrentdb/protocols/v1/streams_grpc_pb.js";
import { withVersion } from "./client-internals.ts";
import { unreadable, withDefaults } from "./connection-string.ts";
import type { Driver } from "./driver.ts";
import { GrpcDriver } from "./grpc-driver.ts";

/** @throws Error when the connection string can't be read; never repeats it, for it may hold a password */
export function connectKurrentDb(connectionString: string): Driver {
  const given = withDefaults(connectionString);
  const name = withVersion("@kurrent/kurrentdb-client");
  try {
    const client = KurrentDBClient.connectionString(given);
    return new GrpcDriver({ name, client, streamsService: StreamsClient, classify: convertToCommandError });
  } catch (error) {
    throw unreadable(error, "kurrentdb://host:2113?tls=false");
  }
}
