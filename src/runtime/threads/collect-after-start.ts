// Frees what a start has left behind: V8 would keep it for good in a thread that has little to do, as nothing fills its heap.
import { runInNewContext } from "node:vm";

/** When all modules are loaded and stores are open, also on a slow machine. */
const AFTER_MS = 5_000;

/**
 * Collects the garbage of the calling thread once, where the process was started with `--expose-gc`. As V8 does when memory
 * runs out: other collections keep the pages of a young generation that a start has enlarged.
 */
export function collectAfterStart(afterMs = AFTER_MS): void {
  // In a context of its own, as the flag gives `gc` to no thread but the first.
  const collect = () => runInNewContext('globalThis.gc?.({ type: "major", flavor: "last-resort" })');
  setTimeout(collect, afterMs).unref();
}
