// The worker thread's side of thread.ts: opens what it serves, and logs through its parent, so that one thread writes the log.
import { parentPort, workerData } from "node:worker_threads";
import { errorFields } from "../error-fields.ts";
import { isObject } from "../is-object.ts";
import type { BasicLogger } from "../logging.ts";
import { Calls, type Channel, type Served } from "./calls.ts";

/** `close`: called when all calls are answered; the thread ends after it. */
export type ServedThread = { served: Served; close: () => Promise<unknown> };

const LEVELS = ["info", "warn", "error"] as const;

/** `open` gets the `data` of the thread's options. */
export async function serveThread<Data>(
  open: (data: Data, log: BasicLogger) => Promise<ServedThread> | ServedThread,
): Promise<void> {
  const port = parentPort;
  if (!port) throw new Error("This is not a worker thread");
  const send: Channel["send"] = (messages) => port.postMessage(messages);
  const log = parentLog((level, args) => send([{ op: "post", object: "log", method: level, args }]));
  const { served, close } = await open(workerData as Data, log);
  const thread = {
    ready: async () => undefined,
    async close() {
      await calls.finish();
      await close().catch((err: unknown) => log.error({ err }, "closing a thread failed"));
      // After the answers have been sent; a module may have left something open, which would keep the thread.
      setImmediate(() => process.exit());
    },
  };
  // Only now, because the port keeps messages until it has a listener.
  const onMessages: Channel["onMessages"] = (receive) => void port.on("message", receive);
  const calls: Calls = new Calls({ send, onMessages }, { ...served, thread: () => thread }, Error);
}

/** Errors as plain fields, as a structured clone drops their class and code. */
function parentLog(post: (level: (typeof LEVELS)[number], args: readonly unknown[]) => void): BasicLogger {
  const lines = LEVELS.map((level) => [
    level,
    (first: unknown, second = "") => {
      const fields = isObject(first) ? { ...first } : {};
      if (fields.err !== undefined) fields.err = errorFields(fields.err);
      post(level, [fields, typeof first === "string" ? first : second]);
    },
  ]);
  return Object.fromEntries(lines) as BasicLogger;
}
