// The delivery queue contract on SQLite, in the caller's thread and in its own.
import { join } from "node:path";
import { openSqliteDeliveryQueue } from "../../src/webhooks/queue/queue.sqlite.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { deliveryQueueContract } from "./delivery-queue.ts";

const open = async (offThread: boolean) => {
  const folder = await temporaryFolder();
  const file = join(folder.path, "deliveries.db");
  const queue = await openSqliteDeliveryQueue(file, { offThread });
  const other = await openSqliteDeliveryQueue(file, { offThread });
  return {
    queue,
    other,
    async close() {
      await queue.close();
      await other.close();
      await folder.remove();
    },
  };
};

deliveryQueueContract("SQLite in the caller's thread", () => open(false));
deliveryQueueContract("SQLite in its own thread", () => open(true));
