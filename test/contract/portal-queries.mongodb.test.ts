// The portal's queries on MongoDB or a compatible server.
import { beforeAll } from "vitest";
import { MongodbConnection } from "../../src/stores/connections/mongodb.ts";
import { openMongodbReadStore } from "../../src/stores/read-store/read-store.mongodb.ts";
import { mongodb, startMongodb, type TestMongodb } from "../support/servers/mongodb-server.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { linkStatusesContract } from "./link-statuses.ts";
import { portalQueriesContract } from "./portal-queries.ts";

onServer(mongodb, () => {
  let server: TestMongodb;
  beforeAll(async () => {
    server = await startMongodb();
    return () => server.stop();
  });

  const open = () => openMongodbReadStore(new MongodbConnection(server.newDatabase()));
  portalQueriesContract("MongoDB", open);
  linkStatusesContract("MongoDB", open);
});
