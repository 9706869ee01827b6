// Requests to a supervised thread, and its stop: it ends by itself after the stop message, or is terminated in time.
import { describe, expect, it } from "vitest";
import { keepThread } from "../../../src/runtime/threads/keep-thread.ts";

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined } as never;

/** A thread with that code, after its first message. */
async function started(code: string) {
  const { promise, resolve: onMessage } = Promise.withResolvers<unknown>();
  const source = `import { parentPort } from "node:worker_threads";\n${code}\nparentPort.postMessage({ type: "runs" });`;
  const file = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  const thread = keepThread<{ type: string }, string>({
    file,
    name: "test",
    data: {},
    log: silent,
    onMessage,
  });
  await promise;
  return thread;
}
async function stoppedAfter(thread: Awaited<ReturnType<typeof started>>, withinMs: number) {
  const since = performance.now();
  await thread.stop("stop", withinMs);
  return performance.now() - since;
}

describe("a supervised thread", () => {
  it("may use the whole stop time to end by itself, and stop resolves as soon as it has ended", async () => {
    const thread = await started(`parentPort.on("message", () => parentPort.close());`);
    expect(await stoppedAfter(thread, 60_000)).toBeLessThan(30_000);
  });

  it("is terminated within the stop time when it does not end, even in a loop that never yields", async () => {
    const thread = await started(`parentPort.on("message", () => { for (;;); });`);
    const took = await stoppedAfter(thread, 500);
    expect(took).toBeGreaterThan(400);
    expect(took).toBeLessThan(5_000);
  });

  it("answers a request by its next message, and with false when none comes or it has ended", async () => {
    const thread = await started(`parentPort.on("message", (message) => {
      if (message === "status") parentPort.postMessage({ type: "status" });
      if (message === "stop") parentPort.close();
    });`);
    expect(await thread.request("status")).toBe(true);
    expect(await thread.request("nothing")).toBe(false);
    await thread.stop("stop", 10_000);
    expect(await thread.request("status")).toBe(false);
  });
});
