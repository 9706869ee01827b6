// The threads of a service: those that docs/how-it-works.md names, and no other.
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type TemporaryFolder, temporaryFolder } from "../../support/runtime/temporary-folder.ts";
import { send } from "../../support/service/ask.ts";
import {
  accountWithKeys,
  type Environment,
  instanceOf,
  type ServiceProcess,
  startService,
} from "../../support/service/service-process.ts";

/** As the system names them: http is the main one. Some are Node's own, in a number that is no business of ours. */
const OF_NODE = new Set(["DelayedTaskSche", "V8Worker", "SignalInspector", "libuv-worker"]);

describe.runIf(process.platform === "linux")("a service", () => {
  let folder: TemporaryFolder;
  let instance: Environment;
  let service: ServiceProcess;
  beforeAll(async () => {
    folder = await temporaryFolder();
    instance = await instanceOf(folder.path);
  });
  afterAll(async () => {
    await service.stop("SIGKILL");
    await folder.remove();
  });

  it("has four threads: http, writer, background, and while somebody searches, reader", async () => {
    const { keys } = await accountWithKeys(instance, "developer", 1);
    service = await startService(instance);
    const port = Number(instance.PORT);
    const [key = ""] = keys;
    const body = { url: "https://example.com/" };
    expect((await send(port, "/api/v1/shorten", { method: "POST", key, body })).status).toBe(201);
    expect((await send(port, "/api/v1/links?q=example", { key })).status).toBe(200);
    expect(threadsOf(service)).toEqual(["MainThread", "background", "reader", "writer"]);
  });
});

function threadsOf({ child }: ServiceProcess): string[] {
  const tasks = `/proc/${child.pid}/task`;
  const names = readdirSync(tasks).map((id) => readFileSync(`${tasks}/${id}/comm`, "utf8").trim());
  return names.filter((name) => !OF_NODE.has(name)).sort();
}
