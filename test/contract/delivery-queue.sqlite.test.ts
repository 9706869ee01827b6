// The delivery queue contract on SQLite, in the caller's thread and in another.
import { join } from "node:path";
import { openSqliteDeliveryQueue } from "../../src/webhooks/queue/queue.sqlite.ts";
import { temporaryFolder } from "../support/runtime/temporary-folder.ts";
import { inThreads } from "../support/service/store-threads.ts";
import { deliveryQueueContract } from "./delivery-queue.ts";

const open = async (inCallersThread: boolean) => {
  const folder = await temporaryFolder();
  const openOne = () =>
    inCallersThread
      ? openSqliteDeliveryQueue(join(folder.path, "deliveries.db"))
      : inThreads(folder.path, ({ stores }) => stores.deliveryQueue());
  const [queue, other] = [await openOne(), await openOne()];
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

deliveryQueueContract("SQLite in the caller's thread", () => open(true));
deliveryQueueContract("SQLite in the reader thread", () => open(false));
