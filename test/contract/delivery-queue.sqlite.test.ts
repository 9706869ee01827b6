// The delivery queue contract on SQLite.
import { join } from "node:path";
import { openSqliteDeliveryQueue } from "../../src/webhooks/queue.sqlite.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { deliveryQueueContract } from "./delivery-queue.ts";

deliveryQueueContract("SQLite", async () => {
  const folder = await temporaryFolder();
  const file = join(folder.path, "deliveries.db");
  const queue = await openSqliteDeliveryQueue(file);
  const other = await openSqliteDeliveryQueue(file);
  return {
    queue,
    other,
    async close() {
      await queue.close();
      await other.close();
      await folder.remove();
    },
  };
});
