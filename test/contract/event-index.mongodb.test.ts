// The index of events on MongoDB or a compatible server.
import { beforeAll } from "vitest";
import { MongodbConnection } from "../../src/stores/connections/mongodb.ts";
import { openMongodbReadStore } from "../../src/stores/read-store/read-store.mongodb.ts";
import { mongodb, startMongodb, type TestMongodb } from "../support/servers/mongodb-server.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { eventIndexContract } from "./event-index.ts";

onServer(mongodb, () => {
  let server: TestMongodb;
  beforeAll(async () => {
    server = await startMongodb();
    return () => server.stop();
  });

  eventIndexContract("MongoDB", () => openMongodbReadStore(new MongodbConnection(server.newDatabase())));
});
