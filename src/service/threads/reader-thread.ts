// The reader thread: what may take long, with store connections of its own and a lower priority than requests.
import { readlinkSync } from "node:fs";
import { setPriority } from "node:os";
import { serveThread } from "../../runtime/threads/serve-thread.ts";
import { queriedStore, storesOf } from "../stores/backend.ts";
import type { ReaderData } from "./reader.ts";

/** Below the priority of the HTTP thread, so that exports don't delay redirects. */
const NICENESS = 5;

lowerPriority();
await serveThread<ReaderData>(({ config }, log) => {
  const stores = storesOf(config);
  const openLogReader = async () => {
    // Loaded when it is first needed, as searches don't need it.
    const { logReader } = await import("./log-reader.ts");
    const readStore = queriedStore(await stores.foldStore());
    return logReader(stores, { eventStore: await stores.eventStore(), readStore }, config, log);
  };
  let opening: ReturnType<typeof openLogReader> | undefined;
  const logReader = () => {
    opening ??= openLogReader();
    return opening;
  };
  const qr = async () => {
    const { drawQr: draw } = await import("../../api/qr/draw-qr.ts");
    const { makeLogo } = await import("../../api/qr/logo.ts");
    return { draw, makeLogo: async (file: Uint8Array) => makeLogo(file) };
  };
  return { served: { ...stores.served.reader, logReader, qr }, close: () => stores.close() };
});

/** Of this thread; only on Linux, where each has its own. */
function lowerPriority(): void {
  try {
    const thread = Number(readlinkSync("/proc/thread-self").split("/").at(-1));
    if (Number.isInteger(thread) && thread !== process.pid) setPriority(thread, NICENESS);
  } catch {
    // Not permitted, or not Linux: the thread keeps the default priority.
  }
}
