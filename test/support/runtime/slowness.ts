// Stretches time limits of tests by the load of the machine.
import { availableParallelism, loadavg } from "node:os";

/** A limit for an idle machine, multiplied by the number of runnable processes for each processor. */
export function stretched(ms: number): number {
  const [load = 0] = loadavg();
  return ms * Math.max(1, load / availableParallelism());
}
