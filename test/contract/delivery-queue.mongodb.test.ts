// The delivery queue contract on MongoDB or a compatible server.
import { MongodbConnection } from "../../src/stores/connections/mongodb.ts";
import { MongodbDeliveryQueue, prepareDeliveries } from "../../src/webhooks/queue/queue.mongodb.ts";
import { mongodb, mongodbOfSuite } from "../support/servers/mongodb-server.ts";
import { onServer } from "../support/servers/test-servers.ts";
import { deliveryQueueContract } from "./delivery-queue.ts";

onServer(mongodb, () => {
  const server = mongodbOfSuite();

  const open = async () => {
    const url = server.newDatabase();
    const connection = new MongodbConnection(url);
    await prepareDeliveries(connection);
    const queue = new MongodbDeliveryQueue(connection);
    const other = new MongodbDeliveryQueue(new MongodbConnection(url));
    return {
      queue,
      other,
      async close() {
        await queue.close();
        await other.close();
      },
    };
  };
  deliveryQueueContract("MongoDB", open);
});
