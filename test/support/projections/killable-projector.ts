// A projector in a process of its own that a test starts and kills.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { childEnvironment } from "../service/child-environment.ts";
import type { Environment } from "../service/service-process.ts";

const PROGRAM = fileURLToPath(new URL("./projector-process.ts", import.meta.url));

export type KillableProjector = {
  start(): void;
  /** Answers when the process is gone; at once when none runs. */
  kill(): Promise<void>;
};

export function killableProjector(environment: Environment): KillableProjector {
  let running: ChildProcess | undefined;
  return {
    start() {
      const env = childEnvironment(environment);
      running = spawn(process.execPath, [PROGRAM], { env, stdio: ["ignore", "ignore", "inherit"] });
    },
    async kill() {
      const child = running;
      running = undefined;
      if (!child || child.exitCode !== null) return;
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
  };
}
