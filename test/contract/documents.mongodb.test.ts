// What is promised of projected documents, on MongoDB or a compatible server: builds, the index of events, the portal's queries.
import { describe } from "vitest";
import { MongodbConnection } from "../../src/stores/connections/mongodb.ts";
import { openMongodbReadStore } from "../../src/stores/read-store/read-store.mongodb.ts";
import { isLong } from "../support/runtime/effort.ts";
import { openStoresWith } from "../support/runtime/stores.ts";
import { mongodb, mongodbOfSuite } from "../support/servers/mongodb-server.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { eventIndexContract } from "./event-index.ts";
import { linkStatusesContract } from "./link-statuses.ts";
import { portalQueriesContract } from "./portal-queries.ts";
import { projectionBuildsContract } from "./projection-builds.ts";

onServer(mongodb, () => {
  const server = mongodbOfSuite();
  const open = async () =>
    await openStoresWith(await openMongodbReadStore(new MongodbConnection(server.newDatabase())));

  eventIndexContract("MongoDB", open);
  portalQueriesContract("MongoDB", open);
  linkStatusesContract("MongoDB", open);
  // Takes half a minute.
  describe.skipIf(!isLong)("at length", () => projectionBuildsContract("MongoDB", open));
});
