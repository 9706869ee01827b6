// Ranges of analytics on MongoDB or a compatible server.
import { beforeAll } from "vitest";
import { MongodbConnection } from "../../src/connections/mongodb.ts";
import { openMongodbReadStore } from "../../src/read-store/mongodb/read-store.ts";
import { mongodb, startMongodb, type TestMongodb } from "../support/servers/mongodb-server.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { rangesContract } from "./ranges.ts";

onServer(mongodb, () => {
  let server: TestMongodb;
  beforeAll(async () => {
    server = await startMongodb();
    return () => server.stop();
  });

  rangesContract("MongoDB", () => openMongodbReadStore(new MongodbConnection(server.newDatabase())));
});
