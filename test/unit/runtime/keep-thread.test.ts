// A kept thread's end: by itself when it heeds the stop, by force when it doesn't, in the time it was given.
import { describe, expect, it } from "vitest";
import { keepThread } from "../../../src/runtime/threads/keep-thread.ts";

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined } as never;

/** A thread with that code, once it has said that it runs. */
async function started(code: string) {
  const { promise, resolve: heard } = Promise.withResolvers<unknown>();
  const source = `import { parentPort } from "node:worker_threads";\n${code}\nparentPort.postMessage({ type: "runs" });`;
  const file = new URL(`data:text/javascript,${encodeURIComponent(source)}`);
  const thread = keepThread<{ type: string }, string>({ file, name: "test", data: {}, log: silent, heard });
  await promise;
  return thread;
}
async function stoppedAfter(thread: Awaited<ReturnType<typeof started>>, withinMs: number) {
  const since = performance.now();
  await thread.stop("stop", withinMs);
  return performance.now() - since;
}

describe("a kept thread", () => {
  it("has the time that is left to end by itself, and is not waited for longer than it needs", async () => {
    const thread = await started(`parentPort.on("message", () => parentPort.close());`);
    expect(await stoppedAfter(thread, 60_000)).toBeLessThan(30_000);
  });

  it("is ended in that time when it does not, even by a loop that never yields", async () => {
    const thread = await started(`parentPort.on("message", () => { for (;;); });`);
    const took = await stoppedAfter(thread, 500);
    expect(took).toBeGreaterThan(400);
    expect(took).toBeLessThan(5_000);
  });
});
