// Ends a child process with the one that has started it, which may itself be ended before it has stopped the child.
import type { ChildProcess } from "node:child_process";

/** By SIGKILL, when this process exits; not when this process is killed itself. */
export function endWithThisProcess(child: ChildProcess): void {
  const end = () => child.kill("SIGKILL");
  // Before others that remove what it writes to.
  process.prependOnceListener("exit", end);
  child.once("exit", () => process.off("exit", end));
}
