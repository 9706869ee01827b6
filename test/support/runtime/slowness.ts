// How much longer things may take here than on a machine that has nothing else to do.
import { availableParallelism, loadavg } from "node:os";

/** `ms` as promised on a free machine, stretched by how many programs wait for each processor just now. */
export function stretched(ms: number): number {
  const [load = 0] = loadavg();
  return ms * Math.max(1, load / availableParallelism());
}
