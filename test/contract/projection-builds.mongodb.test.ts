// Builds of projections on MongoDB or a compatible server.
import { beforeAll } from "vitest";
import { MongodbConnection } from "../../src/stores/connections/mongodb.ts";
import { openMongodbReadStore } from "../../src/stores/read-store/read-store.mongodb.ts";
import { openStores } from "../support/runtime/stores.ts";
import { mongodb, startMongodb, type TestMongodb } from "../support/servers/mongodb-server.ts";
import { onServerAtLength } from "../support/servers/test-servers.ts";
import { projectionBuildsContract } from "./projection-builds.ts";

onServerAtLength(mongodb, () => {
  let server: TestMongodb;
  beforeAll(async () => {
    server = await startMongodb();
    return () => server.stop();
  });

  const open = async () => {
    const { eventStore, close } = await openStores();
    const readStore = await openMongodbReadStore(new MongodbConnection(server.newDatabase()));
    const cleanUp = async () => {
      await readStore.close();
      await close();
    };
    return { eventStore, readStore, cleanUp };
  };

  projectionBuildsContract("MongoDB", open);
});
