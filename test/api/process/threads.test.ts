// The threads of a service: those that docs/how-it-works.md names, and no other.
import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it, onTestFinished } from "vitest";
import { send } from "../../support/service/ask.ts";
import { instanceOfSuite } from "../../support/service/instance-of-suite.ts";
import { accountWithKeys, type ServiceProcess, startService } from "../../support/service/service-process.ts";

/** As the system names them: http is the main one. Some are Node's own, in a number that is no business of ours. */
const OF_NODE = new Set(["DelayedTaskSche", "V8Worker", "SignalInspector", "libuv-worker"]);

describe.runIf(process.platform === "linux")("a service", () => {
  const instance = instanceOfSuite();

  it("has four threads: http, writer, background, and while somebody searches, reader", async () => {
    const { keys } = await accountWithKeys(instance, "developer", 1);
    const service = await startService(instance);
    onTestFinished(() => service.stop("SIGKILL"));
    const [key = ""] = keys;
    await service.shorten(key);
    expect((await send(Number(instance.PORT), "/api/v1/links?q=example", { key })).status).toBe(200);
    expect(threadsOf(service)).toEqual(["MainThread", "background", "reader", "writer"]);
  });
});

function threadsOf({ child }: ServiceProcess): string[] {
  const tasks = `/proc/${child.pid}/task`;
  const names = readdirSync(tasks).map((id) => readFileSync(`${tasks}/${id}/comm`, "utf8").trim());
  return names.filter((name) => !OF_NODE.has(name)).sort();
}
