// How a benchmark asks Node for CPU profiles of all threads of a program.
import type { Environment } from "../../test/support/service/service-process.ts";

/** `folder`: gets one profile a thread. By environment, as threads with flags of their own don't inherit the process's. */
export function profiling(folder: string | undefined): Environment {
  return folder ? { NODE_OPTIONS: `--cpu-prof --cpu-prof-dir=${folder}` } : {};
}
