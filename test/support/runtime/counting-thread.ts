// A thread for the tests of thread.ts: methods that answer, wait, fail, log and stream.
import { serveThread } from "../../../src/runtime/threads/serve-thread.ts";

export type Counting = {
  add(a: number, b: number): Promise<number>;
  nothing(): Promise<undefined>;
  fail(): Promise<never>;
  wait(): Promise<never>;
  /** Never yields. */
  block(): Promise<never>;
  warn(message: string): Promise<void>;
  /** Number of values that `count` has produced, and of its open streams. */
  progress(): Promise<{ produced: number; open: number }>;
};

let produced = 0;
let open = 0;

const counting: Omit<Counting, "warn"> & {
  count(from: number, signal: AbortSignal): AsyncGenerator<number, string>;
} = {
  add: async (a, b) => a + b,
  nothing: async () => undefined,
  fail: async () => {
    throw new RangeError("too far");
  },
  wait: () => new Promise(() => undefined),
  block() {
    for (;;);
  },
  progress: async () => ({ produced, open }),
  async *count(from, signal) {
    open += 1;
    try {
      for (let n = from; n < from + 3; n += 1) {
        produced += 1;
        yield n;
      }
      // A stream that waits without end.
      if (!signal.aborted && from < 0)
        await new Promise((resolve) => signal.addEventListener("abort", resolve));
      return "counted";
    } finally {
      open -= 1;
    }
  },
};

await serveThread<{ broken?: boolean }>(({ broken }, log) => {
  if (broken) throw new Error("can't be opened");
  const warn = (message: string) => log.warn({ err: new RangeError(message) }, "a line");
  return { served: { counting: () => ({ ...counting, warn }) }, close: async () => undefined };
});
