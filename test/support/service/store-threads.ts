// The threads that embedded stores of a data folder use in a service, for contracts of what they do there.
import { parseConfig } from "../../../src/config/config.ts";
import { createLogger } from "../../../src/runtime/logging.ts";
import { storesOf } from "../../../src/service/stores/backend.ts";
import { readerThread } from "../../../src/service/threads/reader.ts";
import { writerThread } from "../../../src/service/threads/writer.ts";

/** Each call starts threads of its own, when they are needed. */
export function storeThreads(dataDir: string) {
  const config = parseConfig({ DATA_DIR: dataDir, GEOIP_DB: "" });
  const log = createLogger("silent");
  const threads = { writer: writerThread(config, log), reader: readerThread(config, log) };
  return {
    ...threads,
    stores: storesOf(config, { threads }),
    close: async () => void (await Promise.all([threads.writer.close(), threads.reader.close()])),
  };
}

/** A store of the folder whose `close` ends its threads, too. */
export async function inThreads<Store extends { close(): Promise<void> }>(
  dataDir: string,
  open: (threads: ReturnType<typeof storeThreads>) => Store | Promise<Store>,
): Promise<Store> {
  const threads = storeThreads(dataDir);
  const store = await open(threads);
  const close = async () => {
    await store.close();
    await threads.close();
  };
  return { ...store, close };
}
