// Calls and streams of objects in a worker thread, which is started again when it has died or was ended while idle.
import { once } from "node:events";
import type { Worker } from "node:worker_threads";
import { expect, it, onTestFinished, vi } from "vitest";
import { remoteMethods } from "../../../src/runtime/threads/remote.ts";
import { type ThreadOptions, threadOf } from "../../../src/runtime/threads/thread.ts";
import type { Counting } from "../../support/runtime/counting-thread.ts";

class Failed extends Error {}

const silent = { info: () => undefined, warn: () => undefined, error: () => undefined } as never;

function open(options: Partial<ThreadOptions> = {}) {
  const thread = threadOf({
    file: new URL("../../support/runtime/counting-thread.ts", import.meta.url),
    name: "counting",
    data: {},
    toError: (message, cause) => new Failed(message, { cause }),
    log: silent,
    ...options,
  });
  onTestFinished(() => thread.close(500));
  const counting = remoteMethods<Counting, keyof Counting>(thread, "counting", [
    ...(["add", "nothing", "fail", "wait", "block", "warn", "progress"] as const),
  ]);
  return { thread, counting };
}

const nextWorker = async () => ((await once(process, "worker")) as [Worker])[0];

it("answers each call with its own result, undefined and errors included", async () => {
  const { counting } = open();
  const sums = await Promise.all([1, 2, 3].map((n) => counting.add(n, 10)));
  expect(sums).toEqual([11, 12, 13]);
  expect(await counting.nothing()).toBeUndefined();
  await expect(counting.fail()).rejects.toThrow(new Failed("RangeError: too far"));
});

it("sends the calls of one turn of the event loop in one message, and gets their answers in one", async () => {
  const nextOne = nextWorker();
  const { counting } = open();
  await counting.nothing();
  const worker = await nextOne;
  const sent = vi.spyOn(worker, "postMessage");
  const received = vi.fn();
  worker.on("message", received);
  await Promise.all([counting.add(1, 2), counting.fail().catch(() => undefined), counting.add(3, 4)]);
  expect(sent).toHaveBeenCalledTimes(1);
  expect(received).toHaveBeenCalledTimes(1);
});

it("refuses methods that the thread doesn't serve", async () => {
  const { thread } = open();
  await expect(thread.call("other", "add", [1, 2])).rejects.toThrow(Failed);
});

it("yields the values of a stream one by one as they are pulled, then what it returned", async () => {
  const { thread, counting } = open();
  const stream = thread.stream("counting", "count", [5], new AbortController().signal);
  expect(await stream.next()).toEqual({ done: false, value: 5 });
  // No value is produced before it is pulled.
  expect(await counting.progress()).toEqual({ produced: 1, open: 1 });
  expect([await stream.next(), await stream.next(), await stream.next()]).toEqual([
    { done: false, value: 6 },
    { done: false, value: 7 },
    { done: true, value: "counted" },
  ]);
  expect((await counting.progress()).open).toBe(0);
});

it("ends a stream in the thread when its consumer stops, also during a wait", async () => {
  const { thread, counting } = open();
  const left = thread.stream("counting", "count", [1], new AbortController().signal);
  await left.next();
  await left.return(undefined);
  const stop = new AbortController();
  const waiting = thread.stream("counting", "count", [-9], stop.signal);
  for (let n = 0; n < 3; n += 1) await waiting.next();
  const last = waiting.next();
  stop.abort();
  expect(await last).toEqual({ done: true, value: undefined });
  await vi.waitFor(async () => expect((await counting.progress()).open).toBe(0));
});

it("rejects pending calls when the thread dies, and starts another for later ones", async () => {
  const worker = nextWorker();
  const { counting } = open();
  await counting.add(1, 1);
  const pending = counting.wait();
  const rejected = expect(pending).rejects.toThrow(Failed);
  await (await worker).terminate();
  await rejected;
  expect(await counting.add(1, 2)).toBe(3);
});

it("rejects when the thread fails to start", async () => {
  const { thread, counting } = open({ data: { broken: true } });
  await expect(thread.start()).rejects.toThrow(Failed);
  await expect(counting.add(1, 1)).rejects.toThrow("can't be opened");
});

it("ends an idle thread, never one with an open stream, and starts it again for the next call", async () => {
  const worker = nextWorker();
  const { thread, counting } = open({ idleMs: 1 });
  const stream = thread.stream("counting", "count", [1], new AbortController().signal);
  await stream.next();
  for (let n = 0; n < 20; n += 1) await counting.add(n, 1);
  expect((await counting.progress()).open).toBe(1);
  const gone = once(await worker, "exit");
  await stream.return(undefined);
  await gone;
  expect(await counting.progress()).toEqual({ produced: 0, open: 0 });
});

it("is started again by itself, unless it is ended while idle", async () => {
  const first = nextWorker();
  const { counting } = open();
  await counting.add(1, 1);
  const second = nextWorker();
  await (await first).terminate();
  await second;
  expect(await counting.add(1, 2)).toBe(3);
});

it("writes its lines to its parent's log, errors with their class", async () => {
  const logged = Promise.withResolvers<unknown[]>();
  const { counting } = open({ log: { warn: (...line: unknown[]) => logged.resolve(line) } as never });
  await counting.warn("too far");
  const err = expect.objectContaining({ type: "RangeError", message: "too far" });
  expect(await logged.promise).toEqual([{ err }, "a line"]);
});

it("is terminated within the time of its stop when it does not end, even in a loop that never yields", async () => {
  const { thread, counting } = open();
  await thread.start();
  const blocked = expect(counting.block()).rejects.toThrow(Failed);
  const since = performance.now();
  await thread.close(500);
  expect(performance.now() - since).toBeGreaterThan(400);
  expect(performance.now() - since).toBeLessThan(5_000);
  await blocked;
});

it("refuses calls once it is closed", async () => {
  const { thread, counting } = open();
  const last = counting.add(1, 1);
  await Promise.all([last, thread.close()]);
  expect(await last).toBe(2);
  await expect(counting.add(1, 1)).rejects.toThrow(Failed);
});
