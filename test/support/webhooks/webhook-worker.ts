// A process that routes and delivers on a data folder, for tests that kill it: webhook-worker.ts DATA_DIR SETTINGS [mute].
import { inspect } from "node:util";
import { openBackend } from "../../../src/service/stores/backend.ts";
import { loopbackSender, webhooksOn } from "./webhook-run.ts";

const [dataDir = "", settings = "{}", mute] = process.argv.slice(2);
const backend = await openBackend({ dataDir });
const sender = loopbackSender();
const stopping = new AbortController();
process.once("SIGTERM", () => stopping.abort());
const print = (fields: object, message: string) =>
  void process.stderr.write(`${message} ${inspect(fields)}\n`);
const webhooks = webhooksOn(backend, {
  settings: JSON.parse(settings),
  log: { warn: print, error: print },
  async send(delivery) {
    const result = await sender.send(delivery);
    if (mute === undefined) return result;
    // The receiver has answered and nothing of it is written yet: the moment to die.
    process.stdout.write(`answered ${result.status}\n`);
    return await new Promise(() => undefined);
  },
});
process.stdout.write("running\n");
await webhooks.run(stopping.signal);
sender.destroy();
await backend.close();
