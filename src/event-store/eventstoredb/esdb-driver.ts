// EventStoreDB through @eventstore/db-client 6.2.1, the last of its line.
import { convertToCommandError, EventStoreDBClient } from "@eventstore/db-client";
import { StreamsClient } from "@eventstore/db-client/generated/streams_grpc_pb.js";
import { withVersion } from "./client-internals.ts";
import { unreadable, withDefaults } from "./connection-string.ts";
import type { Driver } from "./driver.ts";
import { GrpcDriver } from "./grpc-driver.ts";

/** @throws Error when the connection string can't be read; never repeats it, for it may hold a password */
export function connectEventStoreDb(connectionString: string): Driver {
  const given = withDefaults(connectionString);
  const name = withVersion("@eventstore/db-client");
  try {
    const client = EventStoreDBClient.connectionString(given);
    return new GrpcDriver({ name, client, streamsService: StreamsClient, classify: convertToCommandError });
  } catch (error) {
    throw unreadable(error, "esdb://host:2113?tls=false");
  }
}
