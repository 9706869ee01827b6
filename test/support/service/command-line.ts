// The command line as operators and scripts use it: the real program, its standard output, its exit code.
import { execFile } from "node:child_process";
import { expect } from "vitest";
import { childEnvironment } from "./child-environment.ts";

export type Outcome = { code: number; stdout: string; stderr: string };

/** Commands of the real program on the stores in `dataDir`. `program`: the folder of another program than ours. */
export function commandLine(dataDir: string, instance: Record<string, string> = {}, program = process.cwd()) {
  const linkledger = (args: readonly string[], env: Record<string, string> = {}): Promise<Outcome> =>
    new Promise((resolve) => {
      const surroundings = childEnvironment({ DATA_DIR: dataDir, ...instance, ...env });
      execFile(
        process.execPath,
        ["src/cli.ts", ...args],
        { env: surroundings, cwd: program },
        (error, stdout, stderr) => {
          resolve({ code: typeof error?.code === "number" ? error.code : error ? -1 : 0, stdout, stderr });
        },
      );
    });
  return {
    linkledger,
    /** The one JSON document that a command prints; nothing else may be printed. */
    async json(...args: string[]) {
      const outcome = await linkledger([...args, "--json"]);
      expect(outcome).toMatchObject({ code: 0, stderr: "" });
      expect(outcome.stdout.trim().split("\n")).toHaveLength(1);
      return JSON.parse(outcome.stdout);
    },
    /** The one line on standard error that a refused command prints, with exit code 1. */
    async refused(...args: string[]): Promise<string> {
      const outcome = await linkledger([...args, "--json"]);
      expect(outcome).toMatchObject({ code: 1, stdout: "" });
      expect(outcome.stderr).toMatch(/^error: [^\n]+\n$/);
      return outcome.stderr;
    },
  };
}
