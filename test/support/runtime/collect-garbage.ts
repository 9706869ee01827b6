// Collects what nothing refers to any more, so that a measurement doesn't contain the collection of what came before.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

/** The heap of the calling thread, as a whole. */
export function collectGarbage(): void {
  setFlagsFromString("--expose-gc");
  const collect = runInNewContext("gc") as () => void;
  setFlagsFromString("--no-expose-gc");
  collect();
}
