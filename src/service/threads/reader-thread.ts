// The reader thread: what may take long, with store connections of its own and a lower priority than requests.
import { lowerPriority } from "../../runtime/threads/lower-priority.ts";
import { serveThread } from "../../runtime/threads/serve-thread.ts";
import { queriedStore, storesOf } from "../stores/backend.ts";
import type { ReaderData } from "./reader.ts";

lowerPriority();
await serveThread<ReaderData>(({ config }, log) => {
  const stores = storesOf(config);
  const openLogReader = async () => {
    // Loaded when it is first needed, as searches don't need it.
    const { logReader } = await import("./open-log-reader.ts");
    const readStore = queriedStore(await stores.foldStore());
    return logReader(stores, { eventStore: await stores.eventStore(), readStore }, config, log);
  };
  let opening: ReturnType<typeof openLogReader> | undefined;
  const logReader = () => {
    opening ??= openLogReader();
    return opening;
  };
  const qr = async () => {
    const { drawQr, oneByOne } = await import("../../qr/draw-qr.ts");
    const { makeLogo } = await import("../../qr/logo.ts");
    return { draw: oneByOne(drawQr), makeLogo: async (file: Uint8Array) => makeLogo(file) };
  };
  return { served: { ...stores.served.reader, logReader, qr }, close: () => stores.close() };
});
